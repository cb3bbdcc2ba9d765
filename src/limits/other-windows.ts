import { type Band, type LimitWindow, lengthUs, limitOf, windowsOf } from '../contract/contract.ts'
import { longestUs } from './calendar.ts'
import type { LimitedRequest } from './limited-request.ts'

export interface Pacing {
  /** Upper bound of the shortest gap between two admissions of a key; Infinity for fewer than two. */
  readonly shortestGapUs: number
}

export function pacingOf(requests: readonly LimitedRequest[]): Pacing {
  const admitted = requests.filter(({ decision }) => decision === 'admitted')
  let shortestGapUs = Infinity
  admitted.forEach((request, index) => {
    const next = admitted[index + 1]
    if (next === undefined) return
    shortestGapUs = Math.min(shortestGapUs, Math.max(0, next.untilUs - request.fromUs))
  })
  return { shortestGapUs }
}

/**
 * Whether another window may have caused a rejection, whatever its headers show: a window that may have
 * been full, or one that is paced. A limiter that spreads 5,000 a day evenly rejects a request within
 * 17 s of the last admission, so no two admissions are closer than that.
 *
 * @param window of the question; null: it is one of a calendar, which the band leaves out
 * @param requests that share a counter, by start; the rejection is at `index`
 */
export function otherWindowMayRefuse(
  band: Band,
  window: LimitWindow | null,
  requests: readonly LimitedRequest[],
  index: number,
  { shortestGapUs }: Pacing,
): boolean {
  const request = requests[index]!
  const isFull = (limit: number, spanUs: number) => {
    const oldest = requests[index - limit]
    return oldest !== undefined && request.fromUs - oldest.fromUs <= spanUs
  }
  if (band.calendar?.some(({ each, requests: most }) => isFull(most, longestUs[each]))) return true
  return windowsOf(band).some((other) => {
    if (other === window) return false
    const limit = limitOf(band, other)
    // A window without a limit refuses nothing.
    if (!Number.isFinite(limit)) return false
    if (shortestGapUs >= (lengthUs(other) / limit) * pacingTolerance) return true
    return isFull(limit, 2 * lengthUs(other))
  })
}

const pacingTolerance = 0.98
