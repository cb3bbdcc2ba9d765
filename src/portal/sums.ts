import { add, decimalText, readNumber } from '../money/rational.ts'
import { type Asked, exact } from './asked.ts'
import type { Metric } from './shapes.ts'

const inCredits = `unit = 'credits'`
export const requestsSql = 'coalesce(sum(requests), 0)::BIGINT'
export const knownSql: Readonly<Record<Exclude<Metric, 'cost' | 'requests'>, string>> = {
  credits: 'credits_known',
  input: 'tokens_known',
  output: 'tokens_known',
  cached: 'cached_known',
  cacheWrite: 'cache_write_known',
  reasoning: 'reasoning_known',
}
/** SQL for the sum of a metric. */
export const valueSql: Readonly<Record<Metric, string>> = {
  credits: `sum(credits) FILTER (WHERE ${inCredits})`,
  cost: `sum(credits) FILTER (WHERE ${inCredits})`,
  requests: 'sum(requests)',
  input: 'sum(prompt_tokens)',
  output: 'sum(completion_tokens)',
  cached: 'sum(cached_tokens)',
  cacheWrite: 'sum(cache_write_tokens)',
  reasoning: 'sum(reasoning_tokens)',
}

/** Amounts of money: those of the log by unit, and credits at the price of the settings. */
export function moneyOf(asked: Asked, units: readonly { unit: string; amount: string }[]) {
  const { bearer, view } = asked
  if (!bearer.shows.has('cost')) return []
  const amounts = new Map<string, string>()
  for (const { unit, amount } of units) {
    const priced =
      unit === 'credits' ? view.moneyOf(amount) : { currency: unit, value: exact(amount)! }
    if (priced === null) continue
    const before = amounts.get(priced.currency)
    amounts.set(
      priced.currency,
      before === undefined ? priced.value : addDecimals(before, priced.value),
    )
  }
  return [...amounts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([currency, value]) => ({ currency, value }))
}

export const addDecimals = (a: string, b: string) =>
  decimalText(add(readNumber(a)!, readNumber(b)!))

/** Amounts by unit; none if the token does not show costs. */
export async function moneyIn(asked: Asked, where: string) {
  if (!asked.bearer.shows.has('cost')) return []
  return asked.session.rows<{ unit: string; amount: string }>(
    `SELECT unit, sum(credits)::VARCHAR AS amount FROM mine WHERE ${where} AND credits IS NOT NULL GROUP BY unit ORDER BY unit`,
  )
}
