import type { Credits } from '../../../../contract/contract.ts'
import { abandonments, type BalanceHistory } from '../history.ts'
import { type Charges, countWithin, type Kind } from './policies.ts'

/*
 * The policy `from` (`policies.ts`): the service charges an abandoned request if it had come far enough, measured by events that the client
 * received, or by time. Where "far enough" lies is not known; a point is one such threshold.
 */

/** The policy `from` at every point of a kind. */
export function fromEachPoint(
  { callUs, endUs, contentEvents }: BalanceHistory,
  { rows, abandonment }: Kind,
  noticeUs: number,
): readonly Charges[] {
  const tookUs = (row: number) => endUs[row]! - callUs[row]!
  const events = [...new Set(rows.map((row) => contentEvents[row]!))]
  const byEvents = events.map((fewest) => (row: number) => contentEvents[row]! >= fewest)
  // A deadline is one point: all attempts that it ended had come equally far in time, so only events divide them.
  if (abandonment !== abandonments.aborted) return byEvents
  const byTime = rows.map((each) => (row: number) => {
    const beyondUs = tookUs(row) - tookUs(each)
    // The service may notice an abort later than the client made it.
    return Math.abs(beyondUs) <= noticeUs ? 'perhaps' : beyondUs > 0
  })
  return [...byEvents, ...byTime]
}

/** All points from which the policy `from` charges at most `mostCredits`: a row may be charged if one of them charges it. */
export function fromSomePoint(
  history: BalanceHistory,
  rows: readonly number[],
  noticeUs: number,
  mostCredits: Credits,
): Charges {
  const { callUs, endUs, contentEvents } = history
  const tookUs = (row: number) => endUs[row]! - callUs[row]!
  const byTime = [...rows].sort((a, b) => tookUs(b) - tookUs(a))
  const [latest] = byTime
  if (latest === undefined) return () => false
  // If more than half ended equally late, as at a deadline, no point divides them: the policy explains no more than those that
  // charge all or none.
  const latestUs = tookUs(latest)
  const atOnce = byTime.filter((row) => tookUs(row) >= latestUs - noticeUs)
  if (2 * atOnce.length > byTime.length) return () => false
  const byEvents = [...byTime].sort((a, b) => contentEvents[b]! - contentEvents[a]!)
  const charged = new Set(
    [byTime, byEvents].flatMap((order) => {
      const count = countWithin(history, order, mostCredits)
      const edge = order[count - 1]
      // Rows as far as the last that can be paid are not told apart from it.
      return order.filter(
        (row, at) =>
          at < count ||
          (edge !== undefined &&
            tookUs(row) >= tookUs(edge) - noticeUs &&
            (order === byTime || contentEvents[row] === contentEvents[edge])),
      )
    }),
  )
  return (row) => (charged.has(row) ? 'perhaps' : false)
}
