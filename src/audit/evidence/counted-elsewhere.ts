import type { Evidence } from '../rule.ts'
import type { BalanceReading } from './billing/balance-reading.ts'
import { type BalanceHistory, effects } from './billing/history.ts'
import { rowsWhere } from './billing/operations.ts'
import { median } from './median.ts'

/** Counted requests without a row, where credits are unexplained. */
export interface CountedElsewhere {
  /** A lower bound. */
  readonly requests: number
  readonly rows: readonly number[]
  /** Whether each came while a request of our own failed at a gateway, or took long: it may have been sent again. */
  readonly besideOwn: boolean
}

/**
 * Compares two instruments between idle responses: the limiter counted more than the sent attempts, and the balance fell by more
 * than their cost. Most stretches with missing credits and a visible count must show both.
 */
export async function countedElsewhere(
  { store }: Evidence,
  { history, conservation: { idle, stretches } }: BalanceReading,
): Promise<CountedElsewhere | null> {
  const [limit, remaining] = await shownAt(store, history, idle)
  const isRepeated = repeatedBy(history)
  const others: { row: number; requests: number; isOwn: boolean }[] = []
  let [judged, missing] = [0, 0]
  let before: { readonly row: number; readonly nth: number } | null = null
  for (const [nth, row] of idle.entries()) {
    missing += nth === 0 ? 0 : Math.max(0, stretches[nth - 1]!.excess)
    if (Number.isNaN(remaining[nth]!)) continue
    if (before !== null && missing > 0 && limit[before.nth] === limit[nth]) {
      const fell = remaining[before.nth]! - remaining[nth]!
      // A new window shows nothing.
      if (fell >= 0) judged++
      const requests = fell - (row - before.row)
      if (requests > 0) others.push({ row, requests, isOwn: isRepeated(before.row, row) })
    }
    before = { row, nth }
    missing = 0
  }
  if (others.length < 2 || others.length * 2 < judged) return null
  return {
    requests: others.reduce((sum, { requests }) => sum + requests, 0),
    rows: others.map(({ row }) => row),
    besideOwn: others.every(({ isOwn }) => isOwn),
  }
}

/** Limit and remaining requests that some rows show, in their order; NaN without. */
async function shownAt(
  store: Evidence['store'],
  { runId, account, slot, retry }: BalanceHistory,
  rows: Int32Array,
): Promise<readonly [limit: Float64Array, remaining: Float64Array]> {
  // The rows of one account by slot and retry: the query has the same order.
  const order = Int32Array.from(rows.keys()).sort(
    (a, b) => slot[rows[a]!]! - slot[rows[b]!]! || retry[rows[a]!]! - retry[rows[b]!]!,
  )
  const limit = new Float64Array(rows.length).fill(Number.NaN)
  const remaining = new Float64Array(rows.length).fill(Number.NaN)
  let next = 0
  await store.doubleBatches(
    `SELECT slot::DOUBLE, retry::DOUBLE, rate_limit, rate_remaining FROM attempts
     WHERE run_id = $1 AND coalesce(account, key_fp, '') = $2 AND rate_remaining IS NOT NULL
     ORDER BY slot, retry`,
    [runId, account],
    ([slots, retries, limits, remainings]) => {
      for (let at = 0; at < slots!.length; at++) {
        const isBefore = (nth: number) => {
          const row = rows[order[nth]!]!
          return (
            slot[row]! < slots![at]! || (slot[row] === slots![at] && retry[row]! < retries![at]!)
          )
        }
        while (next < order.length && isBefore(next)) next++
        const nth = order[next]
        if (nth === undefined) return
        const row = rows[nth]!
        if (slot[row] !== slots![at] || retry[row] !== retries![at]) continue
        limit[nth] = limits![at]!
        remaining[nth] = remainings![at]!
      }
    },
  )
  return [limit, remaining]
}

/** Statuses of a gateway that did not reach the service, or got no answer in time. */
const ofGateways = new Set([502, 503, 504])

/** Whether among the rows of a stretch is a generation that a gateway may have repeated: it failed there, or took long. */
function repeatedBy(history: BalanceHistory): (from: number, to: number) => boolean {
  const { size, callUs, endUs, effect, status, costCredits } = history
  const tookUs = (row: number) => endUs[row]! - callUs[row]!
  const medianUs = median(rowsWhere(size, (row) => effect[row] === effects.charge).map(tookUs))
  return (from, to) => {
    for (let row = from + 1; row <= to; row++) {
      const isLong = effect[row] === effects.charge && tookUs(row) >= 2 * medianUs
      if (costCredits[row]! > 0 && (isLong || ofGateways.has(status[row]!))) return true
    }
    return false
  }
}
