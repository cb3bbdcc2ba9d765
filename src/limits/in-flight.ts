import { countBelow } from '../user/count-below.ts'
import type { LimitedRequest } from './limited-request.ts'

type Spans = readonly Pick<LimitedRequest, 'fromUs' | 'untilUs' | 'closedUs' | 'decision'>[]

/** Counts how many of the requests besides one may be, and how many surely are, in flight when it is decided. */
export function flightsOf(requests: Spans) {
  const served = requests.filter(({ decision }) => decision !== 'rejected')
  const sorted = (of: (request: Spans[number]) => number) => Float64Array.from(served, of).sort()
  const [starts, decided, ends] = [
    sorted(({ fromUs }) => fromUs),
    sorted(({ untilUs }) => untilUs),
    sorted(({ closedUs }) => closedUs),
  ]
  const own = ({ decision }: Spans[number]) => (decision === 'rejected' ? 0 : 1)
  return {
    /** Those that began before it was decided, and had not ended when it was sent. */
    atMost: (request: Spans[number]) =>
      countBelow(starts, request.untilUs + 1) - countBelow(ends, request.fromUs) - own(request),
    /** Those that had their headers when it was sent, and ended after it was decided, by so much. */
    atLeast: (request: Spans[number], byUs = 0) =>
      Math.max(
        0,
        countBelow(decided, request.fromUs) - countBelow(ends, request.untilUs + byUs + 1),
      ),
  }
}

/**
 * The limits on requests in flight that explain every decision: nothing is admitted with so many in flight, and nothing
 * is rejected with fewer.
 *
 * @returns the least and the most such limit; null if none explains the decisions, or nothing was rejected
 */
export function limitsInFlight(requests: Spans): { least: number; most: number } | null {
  const flights = flightsOf(requests)
  let [least, most] = [1, Infinity]
  for (const request of requests) {
    if (request.decision === 'admitted') least = Math.max(least, flights.atLeast(request) + 1)
    if (request.decision === 'rejected') most = Math.min(most, flights.atMost(request))
  }
  return Number.isFinite(most) && least <= most ? { least, most } : null
}
