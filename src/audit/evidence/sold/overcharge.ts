import { type Model, namesOf } from '../../../contract/contract.ts'
import { numberOf } from '../../../money/rational.ts'
import {
  AttemptCosts,
  type CostedAttempt,
  costRational,
} from '../../../price/attempts/attempt-costs.ts'
import { type TokenColumns, tokenColumnsSql } from '../../../price/attempts/column-usage.ts'
import { priceMomentSql } from '../../../price/attempts/price-moments.ts'
import { tierSql } from '../../../price/attempts/run-costs.ts'
import { jsonOf } from '../../../user/json.ts'
import type { Evidence } from '../../rule.ts'
import type { MeasuredFigure } from '../../verdict.ts'
import { exactAmount } from '../prices/stake.ts'
import type { Part } from './parts.ts'
import { hasOwnCount, soleTextOf } from './sole-texts.ts'

interface Row extends Omit<CostedAttempt, 'model' | 'severalPasses'> {
  readonly runId: string
  readonly template: number | null
  readonly attempts: number
}

interface Asked {
  readonly runId: string
  readonly template: number
  readonly promptHash: string | null
  readonly body: string
}

/** Tokens that are counted too many: of a prompt with this text, or null if that is not known. */
export type TooMany = (reported: number, text: string | null) => number | null

export interface Overcharge {
  /** `5,644 tokens too many in 37 requests, which cost 0.005644 USD by the contract`; without prices, of tokens alone. */
  readonly said: string
  readonly figures: readonly MeasuredFigure[]
}

/** What tokens cost that were counted too many, over all attempts or those of `only`; taken from what is not cached first. */
export async function overcharge(
  { store, runIds, contract, priceChoices }: Evidence,
  model: Model,
  tooMany: TooMany,
  part: 'promptTokens' | 'completionTokens' = 'promptTokens',
  only?: Part,
): Promise<Overcharge> {
  const rows = await store.rows<Row>(
    `SELECT run_id AS "runId", template, response_model AS "responseModel", outcome,
       finish_reason AS "finishReason", ${tierSql} AS "serviceTier", ${tokenColumnsSql},
       (${priceMomentSql(contract.prices?.models ?? [])})::DOUBLE AS "atMs",
       count(*)::DOUBLE AS attempts
     FROM attempts JOIN runs USING (run_id) LEFT JOIN templates USING (run_id, template)
     WHERE list_contains($1::VARCHAR[], run_id) AND list_contains($2::VARCHAR[], model)
       AND outcome = 'ok' AND prompt_tokens IS NOT NULL AND completion_tokens IS NOT NULL
       ${only === undefined ? '' : `AND ${only.column}::VARCHAR = $3`}
     GROUP BY ALL`,
    [
      ...[JSON.stringify(runIds), JSON.stringify(namesOf(model))],
      ...(only === undefined ? [] : [only.value]),
    ],
  )
  const asked = await store.rows<Asked>(
    `SELECT run_id AS "runId", template, prompt_hash AS "promptHash", body
     FROM templates WHERE list_contains($1::VARCHAR[], run_id) AND body IS NOT NULL`,
    [JSON.stringify(runIds)],
  )
  const texts = new Map(
    asked.map((each) => [
      `${each.runId} ${each.template}`,
      hasOwnCount(each, model) ? soleTextOf(jsonOf(each.body)) : null,
    ]),
  )
  const { prices } = contract
  const costs = prices === undefined ? null : new AttemptCosts(contract, prices, priceChoices ?? {})
  let [tokens, requests, others, unpriced] = [0, 0, 0, 0]
  let units = 0n
  for (const { attempts, runId, template, ...row } of rows) {
    const reported = row[part]!
    const text = texts.get(`${runId} ${template}`) ?? null
    const excess = tooMany(reported, text)
    if (excess === null) {
      others += attempts
      continue
    }
    if (excess <= 0) continue
    requests += attempts
    tokens += excess * attempts
    // What one part costs does not depend on other passes.
    const attempt = { ...row, model: model.id, severalPasses: false }
    const charged = costs?.unitsOf(attempt) ?? null
    const right = costs?.unitsOf({ ...attempt, ...without(row, part, excess) }) ?? null
    if (charged === null || right === null) unpriced += attempts
    else units += (charged - right) * BigInt(attempts)
  }
  const counted = `${tokens.toLocaleString('en')} tokens too many in ${requests} requests`
  const unknown = others === 0 ? '' : ` (${others} more could not be counted)`
  const figures: MeasuredFigure[] = [{ name: 'too_many', value: tokens }]
  if (prices === undefined || requests === 0) return { said: `${counted}${unknown}`, figures }
  const cost = costRational(units)
  const unit = prices.currency.name
  const open = unpriced === 0 ? '' : `; the price of ${unpriced} of them is open`
  if (unpriced === 0) figures.push({ name: 'paid_too_much', value: numberOf(cost), unit })
  return {
    said: `${counted}${unknown}, which cost ${exactAmount(cost, unit)} by the contract${open}`,
    figures,
  }
}

function without(
  row: TokenColumns,
  part: 'promptTokens' | 'completionTokens',
  excess: number,
): Partial<TokenColumns> {
  const left = Math.max(0, row[part]! - excess)
  const total = row.totalTokens === null ? null : row.totalTokens - excess
  const cached = part === 'promptTokens' && row.cachedTokens !== null ? row.cachedTokens : null
  return {
    [part]: left,
    totalTokens: total,
    ...(cached === null ? {} : { cachedTokens: Math.min(cached, left) }),
  }
}
