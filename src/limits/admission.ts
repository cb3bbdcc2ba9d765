import type { Arrival } from './arrival.ts'

/** The admissions that surely lay in one window together, the fullest such window of a record. */
export interface FullestWindow {
  readonly count: number
  /** Between these two, both included. */
  readonly first: Arrival
  readonly last: Arrival
}

/**
 * @param arrivals by start; only admissions among them are looked at
 * @returns null without an admission
 */
export function fullestWindow(
  arrivals: readonly Arrival[],
  windowUs: number,
  toleranceUs: number,
): FullestWindow | null {
  const byStart = arrivals.filter(({ decision }) => decision === 'admitted')
  const byEnd = [...byStart].sort((a, b) => a.untilUs - b.untilUs)
  let fullest: FullestWindow | null = null
  let expired = 0
  byEnd.forEach((last, index) => {
    const horizonUs = last.untilUs - windowUs + toleranceUs
    while (byStart[expired] !== undefined && byStart[expired]!.fromUs <= horizonUs) expired++
    const count = index + 1 - expired
    if (count > (fullest?.count ?? 0)) {
      fullest = { count, first: byStart[expired] ?? last, last }
    }
  })
  return fullest
}

/** Attempts that one key made at once after a rest as long as a window. */
export interface Burst {
  readonly arrivals: readonly Arrival[]
  readonly startUs: number
  readonly endUs: number
}

/** A burst is over when it has lasted this share of a window. */
const burstShare = 1 / 4

/**
 * Bursts of more than `limit` attempts from an idle key.
 *
 * @param restedAtStart whether the key is known to have been idle before the record began
 */
export function idleBursts(
  arrivals: readonly Arrival[],
  limit: number,
  windowUs: number,
  restedAtStart: boolean,
): readonly Burst[] {
  const bursts: Burst[] = []
  let busyUntilUs = restedAtStart ? -Infinity : (arrivals[0]?.fromUs ?? 0)
  let index = 0
  while (index < arrivals.length) {
    const start = arrivals[index]!
    // Two windows: a counter that weights the last window has then forgotten it too.
    if (start.fromUs - busyUntilUs <= 2 * windowUs) {
      busyUntilUs = Math.max(busyUntilUs, start.closedUs)
      index++
      continue
    }
    const taken: Arrival[] = []
    while (
      index < arrivals.length &&
      arrivals[index]!.fromUs - start.fromUs <= windowUs * burstShare
    ) {
      taken.push(arrivals[index]!)
      busyUntilUs = Math.max(busyUntilUs, arrivals[index]!.closedUs)
      index++
    }
    if (taken.length > limit) {
      const endUs = Math.max(...taken.map(({ untilUs }) => untilUs))
      bursts.push({ arrivals: taken, startUs: start.fromUs, endUs })
    }
  }
  return bursts
}

/** Whether an edge of windows that falls into one burst may fall into the other as well. */
export function mayShareAnEdge(a: Burst, b: Burst, windowUs: number, toleranceUs: number): boolean {
  const apart = (((b.startUs - a.startUs) % windowUs) + windowUs) % windowUs
  const reachUs = Math.max(a.endUs - a.startUs, b.endUs - b.startUs) + 2 * toleranceUs
  return apart <= reachUs || windowUs - apart <= reachUs
}

/** Tokens that a bucket may regain during a burst, its last one included. */
export function refillDuring(burst: Burst, limit: number, windowUs: number): number {
  return Math.ceil(((burst.endUs - burst.startUs) * limit) / windowUs)
}
