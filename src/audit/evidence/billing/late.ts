import { readBounds } from './bounds.ts'
import type { IntervalReading } from './charge-intervals.ts'
import type { Conservation, Stretch } from './conservation.ts'
import { type BalanceHistory, effects, withColumns } from './history.ts'
import { rowsWhere } from './operations.ts'
import { RunningSum } from './running-sum.ts'

/** Delays to try. With 0, charges settle at once, but the header was read before its own. */
const gracesUs = [0, 0.1e6, 0.5e6, 1e6, 2e6, 5e6, 10e6, 30e6, 60e6]

/** Charges that settle some time after their response. */
export interface Late {
  readonly settleUs: number
  /** Why that does not prove that every charge was right; null without such a reason. */
  readonly doubt: string | null
}

type Conflicts = Pick<IntervalReading, 'conflictCount' | 'placed'>

/** The shortest delay that explains the values; null if none, or if the final balance lacks charges: it may be a lost update. */
export function lateCharges(
  history: BalanceHistory,
  conservation: Conservation,
  intervals: Conflicts,
): Late | null {
  const { whole } = conservation
  // A few conflicts among many exact values are single errors.
  if (whole === null && isRare(intervals)) return null
  // With two idle values, all charges must be in the fall between them, or come later.
  if (whole !== null && whole.excess !== 0) return unsettledCharges(history, conservation)
  // Without two idle values, only a header that was read before its charge may explain the values.
  const settleUs = (whole === null ? [0] : gracesUs).find((graceUs) => fits(history, graceUs))
  if (settleUs === undefined) return unsettledCharges(history, conservation)
  const unread = unreadCharges(history, whole)
  return {
    settleUs,
    doubt:
      unread === 0
        ? null
        : `the values fit only if charges show up to ${settleUs / 1e6} s after their response, and the balance was not read with nothing in flight around ${unread} of the requests that may be charged; a wrong charge would look the same. Read it before the first request and after the last answer`,
  }
}

/** Some balance at the start explains every value, and no value rises against the clock. A failed request may hold its price meanwhile. */
function fits(history: BalanceHistory, graceUs: number, leastUs?: number): boolean {
  const { least, most, rise } = readBounds(history, {
    ...{ includesOwn: () => false, graceUs, holds: true },
    ...(leastUs === undefined ? {} : { leastUs }),
  })
  return least.credits <= most.credits && rise === null
}

/** Charges of one service are about as late: the latest by so many times the earliest. */
const spread = 5
/** So many values that are behind say that all charges are late. */
const fewestBehind = 8
/** A charge that is missing for longer than so many times the delay of the others is lost. */
const longest = 3

/**
 * Charges that are missing in the last value, and that may come later: as others did, or as all charges do. A lost charge among others
 * that show at once is none of these.
 */
function unsettledCharges(
  history: BalanceHistory,
  { whole, stretches, balance }: Conservation,
): Late | null {
  const [start] = balance
  if (start === undefined || (whole !== null && whole.excess >= 0)) return null
  const steadyUs = gracesUs.find((us) => us > 0 && fits(history, us, us / spread))
  const isSteady = steadyUs !== undefined && valuesBehind(history, start) >= fewestBehind
  const settleUs = isSteady ? steadyUs : haveCome(stretches) ? delayLike(history, whole) : null
  if (settleUs === null) return null
  const missing = whole === null ? '' : `, which lacks ${-whole.excess} credits,`
  return {
    settleUs,
    doubt: `the values fit only if charges show up to ${settleUs / 1e6} s after their response, and the last value${missing} was read before all of them had; a wrong charge would look the same. Read the balance once more, later`,
  }
}

/** Values after the first charge that lack one whose response had ended before they were asked for. */
function valuesBehind(
  { size, callUs, endUs, effect, costCredits, value }: BalanceHistory,
  start: number,
): number {
  const charges = rowsWhere(size, (row) => effect[row] === effects.charge)
  const ended = new RunningSum(
    charges,
    (row) => endUs[row]!,
    (row) => costCredits[row]!,
  )
  return rowsWhere(
    size,
    (row) => value[row]! < start && start - value[row]! < ended.before(callUs[row]!),
  ).length
}

/** Whether credits that were missing came later, and no more than were missing. */
function haveCome(stretches: Conservation['stretches']): boolean {
  let [missing, came] = [0, 0]
  for (const { excess } of stretches) {
    missing -= excess
    if (excess > 0) came += excess
    if (missing < 0) return false
  }
  return came > 0
}

/** The delay that explains all values, if the last one needs none that is much longer than the others do. */
function delayLike(history: BalanceHistory, whole: Stretch | null): number | null {
  const lastUs = whole === null ? Infinity : history.readUs[whole.to]!
  const { readUs } = history
  const value = history.value.map((each, row) => (readUs[row]! >= lastUs ? Number.NaN : each))
  const before = withColumns(history, { value })
  const [allUs, othersUs] = [history, before].map((of) => gracesUs.find((us) => fits(of, us)))
  return allUs !== undefined && othersUs !== undefined && allUs <= longest * othersUs ? allUs : null
}

/** Whether there are few contradictions among many values that are exact otherwise. */
export const isRare = ({ conflictCount, placed }: Conflicts): boolean =>
  conflictCount <= Math.max(2, placed / 200)

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
