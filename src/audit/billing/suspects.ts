import type { Credits } from '../../contract/contract.ts'
import { effects, type History } from './history.ts'
import type { Hole } from './tiles.ts'

/** Who may have taken the credits of a hole, and when. */
export interface Suspects {
  readonly fromUs: number
  readonly toUs: number
  /** How many requests were in flight during that time. */
  readonly inFlight: number
  /** The likeliest of them, the one right below the hole first. */
  readonly rows: readonly number[]
}

/** More are no help to anybody. */
const mostSuspects = 64

/**
 * Everybody whose request was on its way at some moment between the charges on both sides of the hole.
 *
 * The charge right below the hole is named first: a request that is charged twice at once shows the hole
 * just above its own tile. Then come those whose price is that of the hole, since a charge that is taken
 * twice takes its price; and among them, as charges are taken on completion (§8.4.2), those that ended by
 * the time of the hole or soonest after it.
 */
export function suspectsOf(history: History, hole: Hole, unexplained: Credits): Suspects {
  const { size, callUs, endUs, effect, costCredits } = history
  const rows: number[] = []
  for (let row = 0; row < size; row++) {
    if (effect[row] === effects.read || callUs[row]! > hole.toUs) continue
    if (endUs[row]! >= hole.fromUs) rows.push(row)
  }
  // What others left may have filled a part of the hole.
  const fits = (row: number) =>
    costCredits[row] === unexplained || costCredits[row] === hole.credits ? 0 : 1
  const afterUs = (row: number) => Math.max(0, endUs[row]! - hole.toUs)
  const likeliest = rows
    .filter((row) => row !== hole.below)
    .sort((a, b) => fits(a) - fits(b) || afterUs(a) - afterUs(b))
  if (rows.includes(hole.below)) likeliest.unshift(hole.below)
  return {
    fromUs: hole.fromUs,
    toUs: hole.toUs,
    inFlight: rows.length,
    rows: likeliest.slice(0, mostSuspects),
  }
}
