import type { Band, Contract, Window } from '../../../contract/contract.ts'
import { type Cell, cellsNamed } from '../../../limits/band.ts'
import type { Sighting } from './history.ts'

export interface Pair {
  readonly before: Sighting
  readonly after: Sighting
  readonly from: Cell
  readonly to: Cell
  /** Successes after the first and up to the second; null where other attempts lie between. */
  readonly steps: number | null
}

/** Successes of one key, each with the last one before it whose limit is of the same window. */
export function* sequentialPairs(
  contract: Contract,
  sightings: readonly Sighting[],
): Generator<Pair, void, undefined> {
  const previous = new Map<Window, { readonly sighting: Sighting; readonly at: number }>()
  let successes = 0
  let others = 0
  let busyUntilUs = -Infinity
  for (const after of sightings) {
    if (after.fromUs < busyUntilUs) previous.clear()
    const alone = after.fromUs >= busyUntilUs
    busyUntilUs = Math.max(busyUntilUs, after.closedUs)
    if (after.decision !== 'admitted') others++
    if (after.decision !== 'admitted' || after.limit === null || after.credits === null) continue
    successes++
    const [to] = cellsNamed(contract, after.limit)
    if (to === undefined || !alone) continue
    const last = previous.get(to.window)
    const [from] = last === undefined ? [] : cellsNamed(contract, last.sighting.limit!)
    if (last !== undefined && from !== undefined) {
      const steps = others === 0 ? successes - last.at : null
      yield { before: last.sighting, after, from, to, steps }
    }
    previous.set(to.window, { sighting: after, at: successes })
    others = 0
  }
}

/** Whether a row may hold for the balance that an answer shows, before or after its charge. */
export function holds(band: Band, sighting: Sighting): boolean {
  const low = sighting.credits! - sighting.costCredits
  const high = sighting.credits! + sighting.costCredits
  return high >= band.minBalance && low <= (band.maxBalance ?? Infinity)
}

/** Whether the count of used requests went on: no window began between the two. */
export function goesOn(before: Sighting, after: Sighting, steps: number | null): boolean {
  if (before.remaining === null || after.remaining === null || steps === null) return false
  return after.limit! - after.remaining === before.limit! - before.remaining + steps
}
