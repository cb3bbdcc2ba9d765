import type { Evidence } from '../rule.ts'
import type { BalanceReading } from './billing/balance-reading.ts'
import { excessOf } from './billing/conservation.ts'

/** Counted requests without a row, where credits are unexplained. */
export interface CountedElsewhere {
  /** A lower bound. */
  readonly requests: number
  /** Rows that show it. */
  readonly rows: readonly number[]
}

/**
 * Compares two independent instruments between idle responses: X-RateLimit-Remaining fell by more than the sent
 * attempts, and the balance by more than their cost. Of the stretches with missing credits and a visible count, most
 * must show both.
 */
export async function countedElsewhere(
  { store }: Evidence,
  { history, conservation: { idle, segments } }: BalanceReading,
): Promise<CountedElsewhere | null> {
  const [slot, retry, limit, remaining] = await store.doubles(
    `SELECT slot::DOUBLE, retry::DOUBLE, rate_limit, rate_remaining FROM attempts
     WHERE run_id = $1 AND coalesce(account, key_fp, '') = $2 AND rate_remaining IS NOT NULL`,
    [history.runId, history.account],
  )
  const shown = new Map(Array.from(slot!, (each, at) => [`${each}/${retry![at]}`, at]))
  const others: { readonly row: number; readonly requests: number }[] = []
  let [judged, missing] = [0, 0]
  let before: { readonly row: number; readonly at: number } | null = null
  for (const [nth, row] of idle.entries()) {
    missing += nth === 0 ? 0 : Math.max(0, excessOf(segments[nth - 1]!))
    const at = shown.get(`${history.slot[row]}/${history.retry[row]}`)
    if (at === undefined) continue
    if (before !== null && missing > 0 && limit![before.at] === limit![at]) {
      const fell = remaining![before.at]! - remaining![at]!
      // A new window shows nothing.
      if (fell >= 0) judged++
      if (fell > row - before.row) others.push({ row, requests: fell - (row - before.row) })
    }
    before = { row, at }
    missing = 0
  }
  if (others.length < 2 || others.length * 2 < judged) return null
  return {
    requests: others.reduce((sum, { requests }) => sum + requests, 0),
    rows: others.map(({ row }) => row),
  }
}
