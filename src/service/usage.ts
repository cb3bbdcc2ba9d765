import type { Credits } from '../contract/contract.ts'
import type { Database } from './ledger/database.ts'
import type { Ledger } from './ledger/ledger.ts'

/** The body of `GET /user/credits`, which the specification leaves open beyond its topics. */
export interface CreditsReport {
  readonly object: 'credits'
  readonly total_consumed: Credits
  readonly remaining: Credits
  readonly requests: number
  readonly average_tokens_per_request: number | null
}

export function creditsReport(
  { sql }: Database,
  ledger: Ledger,
  accountId: number,
  _nowUs: number,
  _query: string,
): CreditsReport {
  const row = sql
    .prepare(
      `SELECT coalesce(-sum(credits), 0) AS consumed, count(*) FILTER (WHERE kind = 'charge') AS requests,
         sum(prompt_tokens + completion_tokens) FILTER (WHERE kind = 'charge') AS tokens
       FROM entries WHERE account_id = ? AND kind IN ('charge', 'refund')`,
    )
    .get(accountId)!
  const requests = Number(row.requests)
  return {
    object: 'credits',
    total_consumed: Number(row.consumed),
    remaining: ledger.balance(accountId).balance,
    requests,
    average_tokens_per_request: requests === 0 ? null : Number(row.tokens) / requests,
  }
}
