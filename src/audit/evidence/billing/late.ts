import { readBounds } from './bounds.ts'
import type { IntervalReading } from './charge-intervals.ts'
import type { Conservation, Stretch } from './conservation.ts'
import { type BalanceHistory, effects } from './history.ts'

/** Delays to try. With 0, charges settle at once, but the header was read before its own. */
const gracesUs = [0, 0.1e6, 0.5e6, 1e6, 2e6, 5e6, 10e6, 30e6, 60e6]

/** Charges that settle some time after their response. */
export interface Late {
  readonly settleUs: number
  /** Why that does not prove that every charge was right; null without such a reason. */
  readonly doubt: string | null
}

/**
 * The shortest delay of charges that explains the values; null if none does. Late charges are missing in the values at first, but not in
 * the final balance. That must be seen, because a lost update and a double charge look the same until then: without it, there is doubt.
 */
export function lateCharges(
  history: BalanceHistory,
  { whole }: Conservation,
  intervals: IntervalReading,
): Late | null {
  // A few conflicts among many exact values are single errors. With two idle values, all charges must be in the fall between them.
  if (whole === null ? isRare(intervals) : whole.excess !== 0) return null
  // Without two idle values, only a header that was read before its charge may explain the values.
  // A failed request may hold its price meanwhile (`holds`).
  for (const graceUs of whole === null ? [0] : gracesUs) {
    const bounds = readBounds(history, { includesOwn: () => false, graceUs, holds: true })
    // Some balance at the start explains every value, and no value rises against the clock.
    if (bounds.least.credits <= bounds.most.credits && bounds.rise === null) {
      const unread = unreadCharges(history, whole)
      return {
        settleUs: graceUs,
        doubt:
          unread === 0
            ? null
            : `the values fit only if charges show up to ${graceUs / 1e6} s after their response, and the balance was not read with nothing in flight around ${unread} of the requests that may be charged; a wrong charge would look the same. Read it before the first request and after the last answer`,
      }
    }
  }
  return null
}

/** Whether there are few contradictions among many values that are exact otherwise. */
export function isRare({ conflictCount, placed }: IntervalReading): boolean {
  return conflictCount <= Math.max(2, placed / 200)
}

/** How many requests that may be charged were called before the first idle value, or after the last one. */
function unreadCharges(
  { size, effect, callUs, costCredits }: BalanceHistory,
  whole: Stretch | null,
): number {
  let count = 0
  for (let row = 0; row < size; row++) {
    const isOutside =
      whole === null || callUs[row]! < callUs[whole.from]! || callUs[row]! > callUs[whole.to]!
    const mayCost = effect[row] === effects.charge || effect[row] === effects.ambiguous
    if (isOutside && mayCost && costCredits[row] !== 0) count++
  }
  return count
}
