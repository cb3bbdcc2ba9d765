import type { LimitedRequest } from './limited-request.ts'

/** The window of a record that surely held the most admissions. */
export interface FullestWindow {
  readonly count: number
  readonly first: LimitedRequest
  readonly last: LimitedRequest
}

/**
 * @param requests by start; only admissions count
 * @returns null without an admission
 */
export function fullestWindow(
  requests: readonly LimitedRequest[],
  windowUs: number,
  toleranceUs: number,
): FullestWindow | null {
  const byStart = requests.filter(({ decision }) => decision === 'admitted')
  const byEnd = [...byStart].sort((a, b) => a.untilUs - b.untilUs)
  let fullest: FullestWindow | null = null
  let expired = 0
  byEnd.forEach((last, index) => {
    const horizonUs = last.untilUs - windowUs + toleranceUs
    while (byStart[expired] !== undefined && byStart[expired]!.fromUs <= horizonUs) expired++
    const count = index + 1 - expired
    if (count > (fullest?.count ?? 0)) fullest = { count, first: byStart[expired] ?? last, last }
  })
  return fullest
}

/** When the first of a burst was sent, and when the last was decided. */
export interface BurstSpan {
  readonly startUs: number
  readonly endUs: number
}

/** Attempts that one idle key made at once. */
export interface Burst extends BurstSpan {
  readonly requests: readonly LimitedRequest[]
}

/** A burst lasts at most this share of a window. */
const burstShare = 1 / 4

/**
 * Bursts of more than `limit` attempts from an idle key.
 *
 * @param restedAtStart whether the key is known to have been idle before the record began
 */
export function idleBursts(
  requests: readonly LimitedRequest[],
  limit: number,
  windowUs: number,
  restedAtStart: boolean,
): readonly Burst[] {
  const bursts: Burst[] = []
  let busyUntilUs = restedAtStart ? -Infinity : (requests[0]?.fromUs ?? 0)
  let index = 0
  while (index < requests.length) {
    const start = requests[index]!
    // After two idle windows, a counter that weights the previous window is empty too.
    if (start.fromUs - busyUntilUs <= 2 * windowUs) {
      busyUntilUs = Math.max(busyUntilUs, start.closedUs)
      index++
      continue
    }
    const taken: LimitedRequest[] = []
    while (
      index < requests.length &&
      requests[index]!.fromUs - start.fromUs <= windowUs * burstShare
    ) {
      taken.push(requests[index]!)
      busyUntilUs = Math.max(busyUntilUs, requests[index]!.closedUs)
      index++
    }
    if (taken.length > limit) {
      const endUs = taken.reduce((latest, { untilUs }) => Math.max(latest, untilUs), -Infinity)
      bursts.push({ requests: taken, startUs: start.fromUs, endUs })
    }
  }
  return bursts
}

/** Whether edges of windows may fall into both bursts. */
export function mayShareAnEdge(
  a: BurstSpan,
  b: BurstSpan,
  windowUs: number,
  toleranceUs: number,
): boolean {
  const apart = (((b.startUs - a.startUs) % windowUs) + windowUs) % windowUs
  const reachUs = Math.max(a.endUs - a.startUs, b.endUs - b.startUs) + 2 * toleranceUs
  return apart <= reachUs || windowUs - apart <= reachUs
}

/** Tokens that a bucket may regain during a burst, rounded up. */
export const refillDuring = (burst: Burst, limit: number, windowUs: number): number =>
  Math.ceil(((burst.endUs - burst.startUs) * limit) / windowUs)
