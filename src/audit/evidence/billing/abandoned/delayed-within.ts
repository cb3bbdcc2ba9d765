import type { Credits } from '../../../../contract/contract.ts'
import type { BalanceHistory } from '../history.ts'
import { type Charges, countWithin, type Policy } from './policies.ts'

/**
 * The policy `delayed`, known to have charged at most `mostCredits` by `lastUs`. Rows are in the order of calls, so only the
 * first can have been charged. The row after those was not, so the delay is at least `lastUs` less its call. Two delays may
 * differ by `noticeUs`: they count from when the service notices that its client is gone.
 */
export function delayedWithin(
  history: BalanceHistory,
  rows: readonly number[],
  { lastUs, noticeUs }: { readonly lastUs: number; readonly noticeUs: number },
  mostCredits: Credits,
): { readonly charges: Charges; readonly window: Policy['window'] } {
  const { callUs, settlesByUs } = history
  const count = countWithin(history, rows, mostCredits)
  const charged = new Set(rows.slice(0, count))
  const nextUs = count < rows.length ? callUs[rows[count]!]! : Infinity
  const leastDelayUs = lastUs - nextUs
  return {
    charges: (row) => (charged.has(row) ? 'perhaps' : false),
    window: (row) => [callUs[row]! + Math.max(0, leastDelayUs - noticeUs), settlesByUs[row]!],
  }
}
