import { clockShiftMs } from '../../../price/judge/clock-shift.ts'
import type { PricedRequest } from '../../../price/judge/request.ts'
import { largest } from '../../../user/extremes.ts'
import type { Join } from '../../evidence/prices/join.ts'
import type { PriceJudgements } from '../../evidence/prices/judgements.ts'
import type { LogRow } from '../../evidence/prices/log.ts'

const minuteMs = 60_000
const quarterMs = 15 * minuteMs
/** How far a time of the log may be from that of its request, beside what the contract allows. */
const slackMs = minuteMs
/** The farthest that the clocks of zones are from UTC. */
const mostZoneMs = 14 * 60 * minuteMs

/** The times of a log, beside those of the client. */
export interface LogTimes {
  /** How far times that name no zone are ahead of UTC; 0 if they name one, or no zone explains all of them. */
  readonly zoneMs: number
  /** By the client's clock, when the last row was written that belongs to a request; infinite if no row has a time. */
  readonly endMs: number
  /** Whether a row may be of a request, by the client's clock or by that of the service. */
  isOf(request: PricedRequest, atMs: number): boolean
  /** Whether a request ended so late that its row may be missing only because the log ends before it. */
  isAfterEnd(request: PricedRequest): boolean
  /** Whether a time of the log lies between two of the client. */
  isBetween(atMs: number, fromMs: number, untilMs: number): boolean
}

interface Timed {
  readonly request: PricedRequest
  readonly atMs: number
  readonly isZoneOpen: boolean
}

export function timesOf(pairs: Join['pairs'], { prices }: PriceJudgements): LogTimes {
  const delayMs = prices.evidence.log?.withinMs ?? 0
  const timesIn = (rowsOf: (pair: Join['pairs'][number]) => readonly LogRow[]): readonly Timed[] =>
    pairs.flatMap((pair) =>
      rowsOf(pair).flatMap(({ atMs, isZoneOpen }) =>
        atMs === null ? [] : [{ request: pair.request, atMs, isZoneOpen }],
      ),
    )
  const times = timesIn(({ rows }) => rows)
  const isNear = (request: PricedRequest, atMs: number, shiftMs: number) =>
    atMs >= request.askedMs + shiftMs - slackMs &&
    atMs <= request.endMs + shiftMs + delayMs + slackMs
  const isOfTime = (request: PricedRequest, atMs: number) =>
    isNear(request, atMs, 0) || isNear(request, atMs, clockShiftMs(request))
  // Further rows of a request may settle it later.
  const firstTimes = timesIn(({ rows }) => rows.slice(0, 1))
  const zoneMs = zoneOf(firstTimes, isOfTime)
  // The log has the clock that more of its times fit.
  const ofClient = firstTimes.filter(({ request, atMs }) => isNear(request, atMs - zoneMs, 0))
  const shifts = firstTimes.map(({ request }) => clockShiftMs(request)).toSorted((a, b) => a - b)
  const shiftMs = 2 * ofClient.length >= firstTimes.length ? 0 : shifts[shifts.length >> 1]!
  const aheadMs = zoneMs + shiftMs
  const endMs =
    times.length === 0 ? Number.POSITIVE_INFINITY : largest(times.map(({ atMs }) => atMs)) - aheadMs
  return {
    zoneMs,
    endMs,
    isOf: (request, atMs) => isOfTime(request, atMs - zoneMs),
    isAfterEnd: (request) => request.endMs + delayMs > endMs + slackMs,
    isBetween: (atMs, fromMs, untilMs) =>
      atMs - aheadMs >= fromMs - slackMs && atMs - aheadMs <= untilMs + slackMs,
  }
}

function zoneOf(
  times: readonly Timed[],
  isOfTime: (request: PricedRequest, atMs: number) => boolean,
): number {
  const [first] = times
  if (first === undefined || !times.every(({ isZoneOpen }) => isZoneOpen)) return 0
  const zoneMs = Math.round((first.atMs - first.request.startMs) / quarterMs) * quarterMs
  const isZone =
    zoneMs !== 0 &&
    Math.abs(zoneMs) <= mostZoneMs &&
    times.every(({ request, atMs }) => isOfTime(request, atMs - zoneMs) && !isOfTime(request, atMs))
  return isZone ? zoneMs : 0
}

/** `; its times have no zone, and are 120 minutes ahead of UTC`; empty where they are UTC. */
export function zoneText({ zoneMs }: LogTimes): string {
  const minutes = `${Math.abs(zoneMs) / minuteMs} minutes`
  return zoneMs === 0
    ? ''
    : `; its times have no zone, and are ${minutes} ${zoneMs > 0 ? 'ahead of' : 'behind'} UTC`
}
