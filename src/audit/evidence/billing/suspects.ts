import type { Credits } from '../../../contract/contract.ts'
import { type BalanceHistory, effects } from './history.ts'
import { rowsWhere } from './operations.ts'
import type { Place } from './place.ts'

/** Requests that may have taken the credits of a balance gap. */
export interface Suspects {
  /** Requests in flight at the likeliest place. */
  readonly inFlight: number
  /** Number of other places that are about as likely. */
  readonly otherPlaces: number
  /** The likeliest of all places. */
  readonly rows: readonly number[]
}

/** More do not help a reader. */
const mostSuspects = 64
/** Places with at least this part of the likeliest share are about as likely. */
const aboutAsLikely = 0.1
/** Less likely places have no suspects. */
const leastShare = 0.005

/**
 * All requests in flight between the charges on both sides of a balance gap, for all places where it may be.
 *
 * Two come first at each place: the charge right below the gap, since a request charged twice at once leaves the gap just above
 * itself, and the one that has the gap's price and ended nearest to it (§8.4.2). The next one counts half, the third a third.
 * Abandoned requests come last: their charges may be legal.
 *
 * @param places likeliest first, at least one
 * @param charged abandoned requests that were certainly charged, and may have been charged twice
 */
export function suspectsOf(
  history: BalanceHistory,
  places: readonly [Place, ...Place[]],
  unexplained: Credits,
  charged: ReadonlySet<number> = new Set(),
): Suspects {
  const weights = new Map<number, number>()
  const [likeliest] = places
  for (const place of places.slice(0, mostSuspects)) {
    if (place.share < leastShare) break
    const rows = inFlightAt(history, place, unexplained, charged)
    for (const [rank, row] of rows.entries()) {
      const weight = row === place.balanceGap.below ? 1 : 1 / (rank + 1)
      weights.set(row, (weights.get(row) ?? 0) + place.share * weight)
    }
  }
  const shows = (row: number) => Number(row === likeliest.balanceGap.below)
  const rows = [...weights]
    .sort(([one, a], [other, b]) => b - a || shows(other) - shows(one))
    .map(([row]) => row)
  return {
    inFlight: inFlightAt(history, likeliest, unexplained, charged).length,
    otherPlaces: places.filter(({ share }) => share >= aboutAsLikely * likeliest.share).length - 1,
    rows: rows.slice(0, mostSuspects),
  }
}

/** Rows in flight at a place, ordered by how well their price and end fit. */
function inFlightAt(
  { size, callUs, endUs, effect, costCredits }: BalanceHistory,
  { balanceGap, fromUs, toUs }: Place,
  unexplained: Credits,
  charged: ReadonlySet<number>,
): readonly number[] {
  const isCharged = (row: number) => Number(effect[row] === effects.charge || charged.has(row))
  // What others left may have filled a part of the balance gap.
  const fits = (row: number) =>
    Number(costCredits[row] === unexplained || costCredits[row] === balanceGap.credits)
  const fromMiddleUs = (row: number) => Math.abs(2 * endUs[row]! - fromUs - toUs)
  const rows = rowsWhere(
    size,
    (row) =>
      effect[row] !== effects.read &&
      callUs[row]! <= balanceGap.toUs &&
      endUs[row]! >= balanceGap.fromUs,
    (a, b) => isCharged(b) - isCharged(a) || fits(b) - fits(a) || fromMiddleUs(a) - fromMiddleUs(b),
  )
  return [...rows]
}
