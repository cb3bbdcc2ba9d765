import { abandonments, type BalanceHistory, effects } from '../history.ts'
import { rowsWhere } from '../operations.ts'

/** The time span in which a row may have been charged, both ends included. */
export type Window = readonly [fromUs: number, untilUs: number]

/** Bounds on abandoned requests, from the durations of requests with a known effect. */
export interface Timing {
  /** The longest time until a service notices that a client is gone: twice the shortest exchange. */
  readonly noticeUs: number
  /** When the service has certainly finished a row, by the longest success. */
  overUs(row: number): number
  longestOfStepUs(row: number): number
  /** When an abandoned row was charged, if it had finished; null if its step's successes all took longer. */
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
 * A stalled client sees its timer fire before it reads what has arrived. How late the timeouts of a stretch are shows the stall;
 * three times that is allowed: until it noticed the deadline, and before and after it.
 */
export function latenessOf(
  { size, callUs, endUs, abandonment }: BalanceHistory,
  stretchOf: (row: number) => number,
): (row: number) => number {
  const isTimeout = (row: number) => abandonment[row] === abandonments.timeout
  let deadlineUs = Infinity
  const latestUs = new Map<number, number>()
  for (const row of rowsWhere(size, isTimeout)) {
    const tookUs = endUs[row]! - callUs[row]!
    deadlineUs = Math.min(deadlineUs, tookUs)
    latestUs.set(stretchOf(row), Math.max(latestUs.get(stretchOf(row)) ?? -Infinity, tookUs))
  }
  return (row) => (isTimeout(row) ? 3 * (latestUs.get(stretchOf(row))! - deadlineUs) : 0)
}
