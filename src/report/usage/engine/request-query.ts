import { tokensSql } from '../../../measure/usage/sums.ts'

/** By time, by what each cost in a unit, by tokens, or by duration; what is not known stands last. */
export type RequestOrder = 'newest' | 'oldest' | 'amount' | 'tokens' | 'duration'

/** Which requests of an account, and in which order. Times are Unix microseconds. */
export interface RequestQuery {
  readonly fromUs: number
  readonly toUs: number
  readonly models: readonly string[]
  readonly keys: readonly string[]
  readonly endpoints: readonly string[]
  /** Values by the name of their tag. */
  readonly tags: ReadonlyMap<string, readonly string[]>
  readonly outcomes: readonly string[]
  /** Also the lines of refunds, which have no outcome. */
  readonly withRefunds: boolean
  readonly order: RequestOrder
  /** Of the order by amount: a unit, and what a credit costs in it, a decimal; null where credits cost nothing in it. */
  readonly priced: { readonly unit: string; readonly perCredit: string | null }
  readonly limit: number
  readonly skip: number
}

/** A request as the sources have it, but its amount and its duration. */
export const requestColumns = `at_us, source, id, type, model, key_fp, endpoint, tags, outcome, status, requests, ${tokensSql}, unit`

/** SQL for the types of rows. */
export const typesSql = ({ withRefunds, outcomes }: RequestQuery) =>
  withRefunds && outcomes.length === 0 ? `type IN ('usage', 'refund')` : `type = 'usage'`

/** SQL for the order of rows. @param unit SQL for the unit of `priced` */
export function requestOrderSql({ order, priced }: RequestQuery, unit: string): string {
  const rest = 'at_us DESC, source, id'
  const last = (sql: string) => `${sql} DESC NULLS LAST, ${rest}`
  switch (order) {
    case 'newest':
      return rest
    case 'oldest':
      return 'at_us, source, id'
    case 'duration':
      return last('latency_us')
    case 'tokens':
      return last(
        `CASE WHEN prompt_tokens IS NOT NULL OR completion_tokens IS NOT NULL THEN coalesce(prompt_tokens, 0) + coalesce(completion_tokens, 0) END`,
      )
    case 'amount': {
      const amount = 'CAST(credits AS DOUBLE)'
      const credits =
        priced.perCredit === null
          ? ''
          : `WHEN unit = 'credits' THEN ${amount} * ${Number(priced.perCredit)}`
      return last(`CASE WHEN unit = ${unit} THEN ${amount} ${credits} END`)
    }
  }
}
