import {
  type Band,
  type Contract,
  type LimitWindow,
  mayBeOfBand,
} from '../../../contract/contract.ts'
import { type Cell, cellsNamed } from '../../../limits/band.ts'
import type { RateEvent } from './history.ts'

export interface Pair {
  readonly before: RateEvent
  readonly after: RateEvent
  readonly from: Cell
  readonly to: Cell
  /** Successes after the first and up to the second; null with other attempts in between. */
  readonly steps: number | null
}

/** Successes of one key, each with the previous one whose limit is for the same window. */
export function* sequentialPairs(
  contract: Contract,
  events: readonly RateEvent[],
): Generator<Pair, void, undefined> {
  const previous = new Map<LimitWindow, { readonly event: RateEvent; readonly at: number }>()
  let successes = 0
  let others = 0
  let busyUntilUs = -Infinity
  for (const after of events) {
    if (after.fromUs < busyUntilUs) previous.clear()
    const alone = after.fromUs >= busyUntilUs
    busyUntilUs = Math.max(busyUntilUs, after.closedUs)
    if (after.decision !== 'admitted') others++
    if (after.decision !== 'admitted' || after.limit === null || after.credits === null) continue
    successes++
    const to = onlyCell(contract, after.limit)
    if (to === undefined || !alone) continue
    const last = previous.get(to.window)
    const from = last === undefined ? undefined : onlyCell(contract, last.event.limit!)
    if (last !== undefined && from !== undefined) {
      const steps = others === 0 ? successes - last.at : null
      yield { before: last.event, after, from, to, steps }
    }
    previous.set(to.window, { event: after, at: successes })
    others = 0
  }
}

/** The cell with this limit, if it is in no other. */
function onlyCell(contract: Contract, limit: number): Cell | undefined {
  const cells = cellsNamed(contract, limit)
  return cells.length === 1 ? cells[0] : undefined
}

/** Whether a row may apply to the balance in a response, before or after its charge. */
export function holds(band: Band, event: RateEvent): boolean {
  const low = event.credits! - event.costCredits
  const high = event.credits! + event.costCredits
  return mayBeOfBand(band, { low, high })
}

/** Whether the used count continued, so no window began in between. */
export function goesOn(before: RateEvent, after: RateEvent, steps: number | null): boolean {
  if (before.remaining === null || after.remaining === null || steps === null) return false
  return after.limit! - after.remaining === before.limit! - before.remaining + steps
}
