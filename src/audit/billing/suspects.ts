import type { Credits } from '../../contract/contract.ts'
import { effects, type History } from './history.ts'
import type { Hole } from './tiles.ts'

/** Who may have taken the credits of a hole, and when. */
export interface Suspects {
  readonly fromUs: number
  readonly toUs: number
  /** Requests in flight during that time, the one right below the hole first. */
  readonly rows: readonly number[]
}

/**
 * Everybody whose request was on its way at some moment between the charges on both sides of the
 * hole; those alone whose price is what is unexplained, where there are such, since a charge that is
taken twice takes its price. The charge right below it is named first: a request that is charged twice at once shows the
 * hole just above its own tile.
 */
export function suspectsOf(history: History, hole: Hole, unexplained: Credits): Suspects {
  const { size, callUs, endUs, effect, costCredits } = history
  let rows: number[] = []
  for (let row = 0; row < size; row++) {
    if (effect[row] === effects.read || callUs[row]! > hole.toUs) continue
    if (endUs[row]! >= hole.fromUs) rows.push(row)
  }
  const fitting = rows.filter((row) => costCredits[row] === unexplained)
  if (fitting.length > 0) rows = fitting
  const first = rows.indexOf(hole.below)
  if (first > 0) {
    rows.splice(first, 1)
    rows.unshift(hole.below)
  }
  return { fromUs: hole.fromUs, toUs: hole.toUs, rows }
}
