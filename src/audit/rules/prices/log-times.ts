import { clockShiftMs } from '../../../price/judge/clock-shift.ts'
import type { PricedRequest } from '../../../price/judge/request.ts'
import { minuteMs } from '../../../user/durations.ts'
import { largest, smallest } from '../../../user/extremes.ts'
import { spread } from '../../../user/spread.ts'
import type { Join } from '../../evidence/prices/join.ts'
import type { PriceJudgements } from '../../evidence/prices/judgements.ts'
import type { LogRow } from '../../evidence/prices/log.ts'
import { clocksOnEarth, type LogClock, utc } from './log-clocks.ts'

/** How far a time of the log may be from that of its request, beside what the contract allows. */
const slackMs = minuteMs

/**
 * Where a row without a request is, beside the run: within it, or so near before or after it that it may be of the run or of another use of
 * the key, or at a time that tells neither, as in a batch; apart, it is of another.
 */
type RowPlace = 'within' | 'earlier' | 'later' | 'untold' | 'apart'

/** The times of a log, beside those of the client. */
export interface LogTimes {
  /** The clock of times that name no zone; UTC if they name one, or most of them fit no clock. */
  readonly clock: LogClock
  /** By the client's clock, when the last row was written that belongs to a request; infinite if no row has a time. */
  readonly endMs: number
  /** Whether a row may be of a request, by the client's clock or by that of the service. */
  isOf(request: PricedRequest, atMs: number): boolean
  /** Whether a request ended so late that its row may be missing only because the log ends before it. */
  isAfterEnd(request: PricedRequest): boolean
  /** Where a row without a request is, beside the run. */
  placeOf(row: LogRow): RowPlace
}

interface Timed {
  readonly request: PricedRequest
  readonly atMs: number
  readonly isZoneOpen: boolean
}

export function timesOf(pairs: Join['pairs'], { prices, requests }: PriceJudgements): LogTimes {
  const delayMs = prices.evidence.log?.withinMs ?? 0
  const timesIn = (rowsOf: (pair: Join['pairs'][number]) => readonly LogRow[]): readonly Timed[] =>
    pairs.flatMap((pair) =>
      rowsOf(pair).flatMap(({ atMs, isZoneOpen }) =>
        atMs === null ? [] : [{ request: pair.request, atMs, isZoneOpen }],
      ),
    )
  const isNear = (request: PricedRequest, atMs: number, shiftMs: number) =>
    atMs >= request.askedMs + shiftMs - slackMs &&
    atMs <= request.endMs + shiftMs + delayMs + slackMs
  const shifts = new Map(pairs.map(({ request }) => [request, clockShiftMs(request)]))
  const shiftOf = (request: PricedRequest) => shifts.get(request) ?? clockShiftMs(request)
  const isOfBy = (clock: LogClock, request: PricedRequest, atMs: number) =>
    // A clock may change between a request and its row.
    [request.startMs, request.endMs + delayMs].some((ms) => {
      const inUtcMs = atMs - clock.aheadMs(ms)
      return isNear(request, inUtcMs, 0) || isNear(request, inUtcMs, shiftOf(request))
    })
  // Further rows of a request may settle it later.
  const firstTimes = timesIn(({ rows }) => rows.slice(0, 1))
  const clock = clockOf(firstTimes, delayMs, isOfBy)
  const inUtc = (atMs: number) => atMs - clock.aheadMs(atMs - clock.aheadMs(atMs))
  const shiftMs = shiftOfLog(
    firstTimes.map(({ request, atMs }) => ({
      shiftMs: shiftOf(request),
      isOfClient: isNear(request, inUtc(atMs), 0),
    })),
  )
  const ofClient = (atMs: number) => inUtc(atMs) - shiftMs
  const late = (times: readonly Timed[]): readonly Late[] =>
    times.map(({ request, atMs }) => {
      const ms = ofClient(atMs)
      return { atMs: ms, ofStartMs: ms - request.askedMs, ofEndMs: ms - request.endMs }
    })
  const joined = late(timesIn(({ rows }) => rows))
  const endMs =
    joined.length === 0 ? Number.POSITIVE_INFINITY : largest(joined.map(({ atMs }) => atMs))
  const placeIn = placesBeside(
    {
      fromMs: smallest(requests.map((request) => request.startMs)),
      untilMs: largest(requests.map((request) => request.endMs)),
    },
    late(firstTimes),
    joined,
  )
  return {
    clock,
    endMs,
    isOf: (request, atMs) => isOfBy(clock, request, atMs),
    isAfterEnd: (request) => request.endMs + delayMs > endMs + slackMs,
    placeOf: ({ atMs }) => (atMs === null ? 'within' : placeIn(ofClient(atMs))),
  }
}

/** When a row of a request was written, and how long after the request began and ended. */
interface Late {
  readonly atMs: number
  readonly ofStartMs: number
  readonly ofEndMs: number
}

/** A row has the time of its request if it is so near to it; times may be cut to seconds. */
const exactMs = 1000
/** Of so many rows, one may be late in a log of exact times. */
const mostExact = 100

/**
 * Where rows without a request are beside a run, if they are as late as those of its requests:
 *
 *     run            |-----|
 *     rows of it                        |-----|     200 s late
 *     without one  apart .. later ........ within ..... apart
 *
 * A row of a batch tells its request less: it is within the run only between rows of the run.
 *
 * @param firsts the first row of each request
 * @param joined all rows of requests
 */
function placesBeside(
  run: { readonly fromMs: number; readonly untilMs: number },
  firsts: readonly Late[],
  joined: readonly Late[],
): (atMs: number) => RowPlace {
  const { fromMs, untilMs } = run
  const outside = (atMs: number) =>
    atMs < fromMs ? 'earlier' : atMs > untilMs ? 'later' : 'untold'
  if (firsts.length === 0) return outside
  const exact = firsts.filter(
    ({ ofStartMs, ofEndMs }) => ofStartMs >= -exactMs && ofEndMs <= exactMs,
  )
  const isExact = mostExact * (firsts.length - exact.length) <= firsts.length
  const earliestMs = Math.min(0, smallest(exact.map(({ ofStartMs }) => ofStartMs)))
  const latestMs = Math.max(0, largest(exact.map(({ ofEndMs }) => ofEndMs)))
  const lateness = [
    smallest(firsts.map(({ ofStartMs }) => ofStartMs)),
    largest(joined.map(({ ofEndMs }) => ofEndMs)),
  ]
  const [leastMs, mostMs] = [smallest(lateness), largest(lateness)]
  const writtenMs = firsts.map(({ atMs }) => atMs)
  const [firstMs, lastMs] = [smallest(writtenMs), largest(writtenMs)]
  return (atMs) => {
    if (isExact && atMs >= fromMs + earliestMs && atMs <= untilMs + latestMs) return 'within'
    // All of the time in which its request may have been tells.
    const [askedMs, endedMs] = [atMs - mostMs, atMs - leastMs]
    if (askedMs >= fromMs && endedMs <= untilMs)
      return atMs > firstMs && atMs < lastMs ? 'within' : 'untold'
    const isNear = atMs >= fromMs - slackMs && atMs <= untilMs + slackMs
    return isNear || (askedMs <= untilMs && endedMs >= fromMs) ? outside(atMs) : 'apart'
  }
}

/**
 * How far the clock of the log is ahead of the client's: it is the client's or the service's, whichever fits most rows. In
 * milliseconds.
 */
function shiftOfLog(
  rows: readonly { readonly shiftMs: number; readonly isOfClient: boolean }[],
): number {
  if (2 * rows.filter(({ isOfClient }) => isOfClient).length >= rows.length) return 0
  const shifts = rows.map(({ shiftMs }) => shiftMs).toSorted((a, b) => a - b)
  return shifts[shifts.length >> 1]!
}

/** All clocks on earth are compared with so many times of a log at first. */
const mostCompared = 200
/** Clocks that agree at those may differ at others: so often, some of the times that the likeliest does not fit are added. */
const mostRounds = 3

/** The clock on earth that most times without a zone fit, and at least half of them; else UTC. */
function clockOf(
  times: readonly Timed[],
  delayMs: number,
  isOfBy: (clock: LogClock, request: PricedRequest, atMs: number) => boolean,
): LogClock {
  if (!times.every(({ isZoneOpen }) => isZoneOpen)) return utc
  const isBy =
    (clock: LogClock) =>
    ({ request, atMs }: Timed) =>
      isOfBy(clock, request, atMs)
  const misfits = (clock: LogClock) => times.filter((each) => !isBy(clock)(each))
  let best = utc
  let fewest = misfits(utc).length
  let compared = spread(times, mostCompared)
  for (let round = 0; round < mostRounds && fewest > 0; round++) {
    const clock = likeliest(compared)
    const others = misfits(clock)
    if (others.length < fewest && 2 * others.length <= times.length)
      [best, fewest] = [clock, others.length]
    if (times.length <= mostCompared) break
    compared = [...compared, ...spread(others, mostCompared)]
  }
  return best

  function likeliest(some: readonly Timed[]): LogClock {
    const moments = some.flatMap(({ request }) => [request.startMs, request.endMs + delayMs])
    let [found, most] = [utc, some.filter(isBy(utc)).length]
    for (const clock of clocksOnEarth(moments)) {
      const count = some.filter(isBy(clock)).length
      if (count > most) [found, most] = [clock, count]
    }
    return found
  }
}

/** `; its times have no zone, and are 120 minutes ahead of UTC`; empty where they are UTC. */
export function zoneText({ clock }: LogTimes): string {
  if (clock === utc) return ''
  if (clock.place !== null)
    return `; its times have no zone, and are those of a place such as ${clock.place}`
  const minutes = clock.aheadMs(0) / minuteMs
  return `; its times have no zone, and are ${Math.abs(minutes)} minutes ${minutes > 0 ? 'ahead of' : 'behind'} UTC`
}
