import type { ModelPrice } from '../../../../src/contract/prices.ts'
import { decimalText, type Rational, rational } from '../../../../src/money/rational.ts'
import type { PriceContext } from '../../../../src/price/calculate.ts'
import type { Change } from '../../../../src/price/judge/changes/change.ts'
import type { PricedRequest } from '../../../../src/price/judge/request.ts'
import { readUsage } from '../../../../src/tokens/read-usage.ts'
import type { Parts, Usage } from '../../../../src/tokens/usage.ts'
import { request } from '../../made-requests.ts'

const none = readUsage({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }, 'openai-chat')

/** A usage with these counts, in millions of tokens. */
export function millions(parts: Partial<Parts>): Usage {
  const counts = Object.entries(parts).map(([part, count]) => [part, count && count * 1e6])
  return { ...none, parts: { ...none.parts, ...Object.fromEntries(counts) } }
}

interface Of {
  readonly model: ModelPrice
  readonly usage?: Usage
  readonly counts?: Readonly<Record<string, number>>
  readonly of?: Partial<PricedRequest>
}

/** What each change would charge, by its summary; null if it does not apply. */
export function changedCosts(
  changes: readonly Change[],
  { model, usage = none, counts = {}, of = {} }: Of,
): Readonly<Record<string, string | null>> {
  const context: PriceContext = {
    ...{ atMs: 0, serviceTier: null, choices: {}, outcome: 'success' },
    counts: Object.fromEntries(
      Object.entries(counts).map(([name, count]) => [name, rational(BigInt(count))]),
    ),
  }
  const text = (cost: Rational | null) => cost && decimalText(cost)
  return Object.fromEntries(
    changes.map(({ summary, costOf }) => [
      summary,
      text(costOf(request(of), model, usage, context)),
    ]),
  )
}
