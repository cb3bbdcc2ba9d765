import { type BalanceHistory, effects, timeouts } from '../history.ts'
import { rowsWhere } from '../operations.ts'

/** The time span in which a row may have been charged, both ends included. */
export type Window = readonly [fromUs: number, untilUs: number]

/** Bounds on abandoned requests, from the durations of requests with a known effect. */
export interface Timing {
  /**
   * The longest time until a service notices that a client is gone: twice the shortest exchange, once for the news to arrive and
   * once for the service to act on it.
   */
  readonly noticeUs: number
  /** When the service has certainly finished a row, by the longest success. */
  overUs(row: number): number
  longestOfStepUs(row: number): number
  /**
   * When an abandoned row was charged, if it had finished. Null if it took less than the shortest success of its step, or more than
   * `longUs`, what others take there; both by more than a notice.
   *
   * @param lateUs how late the client may have seen the end (`latenessOf`)
   */
  finished(row: number, longUs: number, lateUs: number): Window | null
}

export function timingOf({ size, callUs, endUs, effect, step }: BalanceHistory): Timing {
  let [shortestUs, longestUs] = [Infinity, -Infinity]
  const durations = new Map<number, { shortUs: number; longUs: number }>()
  const tookUs = (row: number) => endUs[row]! - callUs[row]!
  for (let row = 0; row < size; row++) {
    if (effect[row] === effects.ambiguous) continue
    shortestUs = Math.min(shortestUs, tookUs(row))
    if (effect[row] !== effects.charge) continue
    longestUs = Math.max(longestUs, tookUs(row))
    const { shortUs = Infinity, longUs = -Infinity } = durations.get(step[row]!) ?? {}
    durations.set(step[row]!, {
      shortUs: Math.min(shortUs, tookUs(row)),
      longUs: Math.max(longUs, tookUs(row)),
    })
  }
  const noticeUs = 2 * shortestUs
  return {
    noticeUs,
    overUs: (row) => Math.max(endUs[row]!, callUs[row]! + longestUs) + noticeUs,
    longestOfStepUs: (row) => durations.get(step[row]!)?.longUs ?? Infinity,
    finished(row, longUs, lateUs) {
      const shortUs = durations.get(step[row]!)?.shortUs ?? -Infinity
      return tookUs(row) >= shortUs - noticeUs && tookUs(row) <= longUs + noticeUs + lateUs
        ? [endUs[row]! - noticeUs - lateUs, endUs[row]! + noticeUs]
        : null
    },
  }
}

/**
 * How late the client may have seen a response that it then took for a timeout; 0 for rows that did not time out.
 *
 * A stalled client sees its timer fire before it reads what has arrived. The stall of a stretch is how late its latest timeout was,
 * by the shortest of the same deadline. Three times that is allowed: for the timer itself, for what arrived before it, and for what
 * arrived after it.
 */
export function latenessOf(
  { size, callUs, endUs, timeout }: BalanceHistory,
  stretchOf: (row: number) => number,
): (row: number) => number {
  const isTimeout = (row: number) => timeout[row] !== timeouts.none
  const rows = rowsWhere(size, isTimeout)
  const tookUs = (row: number) => endUs[row]! - callUs[row]!
  const deadlineUs = new Map<number, number>()
  for (const row of rows) {
    const shortest = deadlineUs.get(timeout[row]!) ?? Infinity
    deadlineUs.set(timeout[row]!, Math.min(shortest, tookUs(row)))
  }
  const stallUs = new Map<number, number>()
  for (const row of rows) {
    const lateUs = tookUs(row) - deadlineUs.get(timeout[row]!)!
    stallUs.set(stretchOf(row), Math.max(stallUs.get(stretchOf(row)) ?? 0, lateUs))
  }
  return (row) => (isTimeout(row) ? 3 * stallUs.get(stretchOf(row))! : 0)
}
