import type { Credits } from '../../../contract/contract.ts'
import { effects, type History } from './history.ts'
import type { Place } from './location.ts'
import { rowsWhere } from './operations.ts'

/** Who may have taken the credits of a hole. */
export interface Suspects {
  /** How many requests were in flight at the likeliest place. */
  readonly inFlight: number
  /** How many other places are about as likely. */
  readonly otherPlaces: number
  /** The likeliest of them all. */
  readonly rows: readonly number[]
}

/** More are no help to anybody. */
const mostSuspects = 64
/** A place is about as likely as another when it has this part of its share. */
const aboutAsLikely = 0.1
/** Less likely places than this have no suspects. */
const leastShare = 0.005

/**
 * Everybody whose request was on its way at some moment between the charges on both sides of a hole, of
 * all places where it may be.
 *
 * At each place two are named first. The charge right below: a request that is charged twice at once shows
 * the hole just above its own tile. And of those whose price is that of the hole, since a charge that is
 * taken twice takes its price, the one that ended nearest to it, as charges are taken on completion
 * (§8.4.2). The next one counts half, the third a third; those that were left come last, for what they cost
 * may be legal.
 *
 * @param places the likeliest first, at least one
 * @param charged those that were left and surely charged, so that they may have been charged twice
 */
export function suspectsOf(
  history: History,
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
      const weight = row === place.hole.below ? 1 : 1 / (rank + 1)
      weights.set(row, (weights.get(row) ?? 0) + place.share * weight)
    }
  }
  const shows = (row: number) => Number(row === likeliest.hole.below)
  const rows = [...weights]
    .sort(([one, a], [other, b]) => b - a || shows(other) - shows(one))
    .map(([row]) => row)
  return {
    inFlight: inFlightAt(history, likeliest, unexplained, charged).length,
    otherPlaces: places.filter(({ share }) => share >= aboutAsLikely * likeliest.share).length - 1,
    rows: rows.slice(0, mostSuspects),
  }
}

/** Rows in flight at a place, by how well their price and their end fit. */
function inFlightAt(
  { size, callUs, endUs, effect, costCredits }: History,
  { hole, fromUs, toUs }: Place,
  unexplained: Credits,
  charged: ReadonlySet<number>,
): readonly number[] {
  const isCharged = (row: number) => Number(effect[row] === effects.charge || charged.has(row))
  // What others left may have filled a part of the hole.
  const fits = (row: number) =>
    Number(costCredits[row] === unexplained || costCredits[row] === hole.credits)
  const fromMiddleUs = (row: number) => Math.abs(2 * endUs[row]! - fromUs - toUs)
  const rows = rowsWhere(
    size,
    (row) =>
      effect[row] !== effects.read && callUs[row]! <= hole.toUs && endUs[row]! >= hole.fromUs,
    (a, b) => isCharged(b) - isCharged(a) || fits(b) - fits(a) || fromMiddleUs(a) - fromMiddleUs(b),
  )
  return [...rows]
}
