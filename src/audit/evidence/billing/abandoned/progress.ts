import type { Credits } from '../../../../contract/contract.ts'
import { abandonments, type BalanceHistory } from '../history.ts'
import { type Charges, countWithin, type Kind } from './policies.ts'

/** The policy `from` at every point of a kind: by events that the client received, or by time. */
export function fromEachPoint(
  { callUs, endUs, contentEvents }: BalanceHistory,
  { rows, abandonment }: Kind,
  noticeUs: number,
): readonly Charges[] {
  const tookUs = (row: number) => endUs[row]! - callUs[row]!
  const events = [...new Set(rows.map((row) => contentEvents[row]!))]
  const byEvents = events.map((fewest) => (row: number) => contentEvents[row]! >= fewest)
  // A deadline is one point: all attempts that it ended had come equally far.
  if (abandonment !== abandonments.aborted) return byEvents
  const byTime = rows.map((each) => (row: number) => {
    const beyondUs = tookUs(row) - tookUs(each)
    return Math.abs(beyondUs) <= noticeUs ? 'perhaps' : beyondUs > 0
  })
  return [...byEvents, ...byTime]
}

/** The policy `from` at all points at once from which it charges at most `most`: the rows that it may charge. */
export function fromSomePoint(
  history: BalanceHistory,
  rows: readonly number[],
  noticeUs: number,
  most: Credits,
): Charges {
  const { callUs, endUs, contentEvents } = history
  const tookUs = (row: number) => endUs[row]! - callUs[row]!
  const byTime = [...rows].sort((a, b) => tookUs(b) - tookUs(a))
  // If most are at one point, as with a deadline, they are charged together or not at all.
  const latestUs = tookUs(byTime[0] ?? -1)
  const atOnce = byTime.filter((row) => tookUs(row) >= latestUs - noticeUs)
  if (2 * atOnce.length > byTime.length) return () => false
  const byEvents = [...byTime].sort((a, b) => contentEvents[b]! - contentEvents[a]!)
  const charged = new Set(
    [byTime, byEvents].flatMap((order) => {
      const count = countWithin(history, order, most)
      const edge = order[count - 1]
      // With those that had come about as far.
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
