import {
  type Band,
  type Contract,
  type LimitWindow,
  lengthUs,
  limitOf,
} from '../contract/contract.ts'
import type { Bracket } from './balance.ts'
import { bandsNamed, bandsWithin, cellsNamed } from './band.ts'
import { flightsOf } from './in-flight.ts'
import { type LimitedRequest, withUnknownDecision } from './limited-request.ts'
import type { LimiterTrace } from './models/model.ts'
import { otherWindowMayRefuse, type Pacing, pacingOf } from './other-windows.ts'
import type { ServiceClock } from './service-clock.ts'

/** The requests of one key while one limit held for it. */
export interface BandTrace extends LimiterTrace {
  readonly key: string
  readonly band: Band
  readonly window: LimitWindow
}

/** A request with the possible balance at its admission. */
export interface Placed extends LimitedRequest {
  readonly balance: Bracket
}

/** Requests of a trace at most; the models explain only the beginning of a longer one. */
const longest = 6_000

/** Error of timers and clocks, as a share of a window. */
const toleranceShare = 0.002

/**
 * Cuts the record of one key where its limit may have changed, and where the key was idle for two
 * windows, which resets every limiter.
 *
 * A rejection counts only if no other window and no promised number in flight can have caused it, and its limit header
 * does not name another window. The decision of any other rejection becomes `unknown`.
 *
 * @param requests of one key, by start
 */
export function tracesOf(
  requests: readonly Placed[],
  contract: Contract,
  window: LimitWindow,
  clock: ServiceClock | null,
): readonly BandTrace[] {
  const spanUs = lengthUs(window)
  const pacing = pacingOf(requests)
  const flights = contract.bands?.some(({ inFlight }) => inFlight !== undefined)
    ? flightsOf(requests)
    : null
  const pieces: {
    bands: readonly Band[]
    readonly earlier: number
    /** Index of its first request in the record. */
    readonly start: number
    readonly requests: Placed[]
  }[] = []
  let lastUs = -Infinity
  for (const [start, request] of requests.entries()) {
    const bands = bandsOf(contract, request)
    const piece = pieces.at(-1)
    const rested = request.fromUs - lastUs > 2 * spanUs
    const shared =
      bands === piece?.bands ? bands : (piece?.bands.filter((band) => bands.includes(band)) ?? [])
    if (piece === undefined || rested || shared.length === 0) {
      const earlier = rested && piece !== undefined ? 0 : earlierAtMost(contract, window, request)
      pieces.push({ bands, earlier, start, requests: [request] })
    } else {
      piece.requests.push(request)
      piece.bands = shared
    }
    lastUs = Math.max(lastUs, request.closedUs)
  }
  return pieces.flatMap(({ bands, earlier, start, requests: piece }) => {
    const limits = new Set(bands.map((band) => limitOf(band, window)))
    const [band] = bands
    if (band === undefined || limits.size !== 1) return []
    const kept = piece.slice(0, longest)
    const cutUs = piece[longest]?.fromUs ?? Infinity
    return [
      {
        key: kept[0]!.key,
        band,
        window,
        requests: kept.map((request, index) =>
          request.decision === 'rejected' &&
          (request.untilUs >= cutUs ||
            (flights?.atMost(request) ?? 0) >= (band.inFlight ?? Infinity) ||
            !isOfWindow(contract, band, window, requests, start + index, pacing))
            ? withUnknownDecision(request)
            : request,
        ),
        limit: limitOf(band, window),
        windowUs: spanUs,
        earlierAtMost: earlier,
        toleranceUs: spanUs * toleranceShare,
        edge: edgeOf(clock, spanUs),
        counted: (request) => (request.decision === 'admitted' ? 'yes' : 'maybe'),
      },
    ]
  })
}

/** Bands that may apply to a request: those with the limit in its header, else those of its balance. */
function bandsOf(contract: Contract, request: Placed): readonly Band[] {
  if (request.limit !== null && request.status !== 401) {
    const named = bandsNamed(contract, request.limit)
    if (named.length > 0) return named
  }
  return bandsWithin(contract, request.balance)
}

/** Requests counted before the first of a piece, at most, by its headers; Infinity if they do not show it. */
function earlierAtMost(contract: Contract, window: LimitWindow, first: Placed): number {
  const { limit, remaining } = first
  // At 0 remaining, more than the limit may have been used, in an earlier band with a higher limit.
  if (limit === null || remaining === null || remaining === 0) return Infinity
  if (first.decision !== 'admitted') return Infinity
  const names = cellsNamed(contract, limit).some((cell) => cell.window === window)
  return names ? Math.max(0, limit - remaining - 1) : Infinity
}

function isOfWindow(
  contract: Contract,
  band: Band,
  window: LimitWindow,
  requests: readonly Placed[],
  index: number,
  pacing: Pacing,
): boolean {
  const request = requests[index]!
  const cells = request.limit === null ? [] : cellsNamed(contract, request.limit)
  if (cells.length > 0 && !cells.some((cell) => cell.window === window)) return false
  // The headers may always show the minute, whichever window was full (gap G-20).
  return !otherWindowMayRefuse(band, window, requests, index, pacing)
}

/** Bounds of an edge of the clock's windows: a multiple of the window's length since the Unix epoch. */
function edgeOf(clock: ServiceClock | null, spanUs: number): LimiterTrace['edge'] {
  if (clock === null || clock.highUs - clock.lowUs > spanUs) return null
  const edgeUs = Math.ceil(clock.highUs / spanUs) * spanUs
  return { lowUs: edgeUs - clock.highUs, highUs: edgeUs - clock.lowUs }
}
