import type { Model } from '../../../contract/contract.ts'
import { numberOf } from '../../../money/rational.ts'
import { AttemptCosts, costRational } from '../../../price/attempts/attempt-costs.ts'
import { type TokenColumns, tokenColumnNames } from '../../../price/attempts/column-usage.ts'
import type { Evidence } from '../../rule.ts'
import type { MeasuredFigure } from '../../verdict.ts'

/** Tokens counted for each token of the text. */
interface CountedRatio {
  /** The encoding that counts the text. */
  readonly of: string
  readonly value: number
  readonly low?: number
  readonly high?: number
}

const thousand = 1_000

/** What a million more tokens of fresh text cost as the service counts them, without fees and thresholds; none if open. */
export async function textPrice(
  { store, runIds, contract, priceChoices }: Evidence,
  model: Model,
  name: 'text_price' | 'answer_price',
  { of, value, low, high }: CountedRatio,
): Promise<readonly MeasuredFigure[]> {
  const { prices } = contract
  if (prices === undefined) return []
  const [newest] = await store.rows<{ atMs: number }>(
    `SELECT epoch_ms(max(started_at))::DOUBLE AS "atMs" FROM runs WHERE list_contains($1::VARCHAR[], run_id)`,
    [JSON.stringify(runIds)],
  )
  const costs = new AttemptCosts(contract, prices, priceChoices ?? {})
  const unitsOf = (promptTokens: number, completionTokens: number) =>
    costs.unitsOf({
      ...nothingElse,
      ...{ promptTokens, completionTokens, totalTokens: promptTokens + completionTokens },
      ...{ model: model.id, responseModel: null, outcome: 'ok', finishReason: 'stop' },
      ...{ serviceTier: null, atMs: newest!.atMs, severalPasses: false },
    })
  const one = unitsOf(thousand, thousand)
  const more =
    name === 'text_price' ? unitsOf(2 * thousand, thousand) : unitsOf(thousand, 2 * thousand)
  if (one === null || more === null) return []
  const perMillion = thousand * numberOf(costRational(more - one))
  return [
    {
      ...{ name, of, value: value * perMillion, unit: prices.currency.name },
      ...(low === undefined ? {} : { low: low * perMillion }),
      ...(high === undefined ? {} : { high: high * perMillion }),
    },
  ]
}

/** Fresh text alone: nothing is cached, no reasoning, no other kind of token. */
const nothingElse = Object.fromEntries(
  tokenColumnNames.map((column) => [column, 0]),
) as unknown as TokenColumns
