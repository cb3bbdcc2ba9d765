import type { LimitedRequest } from './limited-request.ts'
import type { ServiceClock } from './service-clock.ts'

/** What the number in X-RateLimit-Reset may be. */
export const resetUnits = ['delta-s', 'delta-ms', 'epoch-s', 'epoch-ms', 'epoch-us'] as const
export type ResetUnit = (typeof resetUnits)[number]

/** Microseconds in one of the unit. */
const unitUs: Readonly<Record<ResetUnit, number>> = {
  'delta-s': 1e6,
  'delta-ms': 1e3,
  'epoch-s': 1e6,
  'epoch-ms': 1e3,
  'epoch-us': 1,
}

/** One reset value, and the longest that it may look ahead. */
export interface ResetSample {
  readonly request: LimitedRequest
  readonly value: number
  readonly windowUs: number
}

export interface UnitInference {
  readonly units: readonly ResetUnit[]
  /** For each unit that fell: the samples that rule it out. */
  readonly ruledOut: ReadonlyMap<ResetUnit, readonly ResetSample[]>
}

/**
 * By how much the clock that a limiter computes epochs by may differ from the one that writes `Date`, as
 * a proxy in front of it may: nothing is promised about either.
 */
const mostSkewUs = 60e6

/** Rounding to the next unit, up or down, and timers that are late. */
const slackUs = 1.5e6

/**
 * The set of units in which every sample makes sense. It never drops the true one; two survivors
 * mean that the samples fit both.
 *
 * 1. Range: a delta lies between 0 and the window that the limit names, and epochs do by one clock,
 *    which may be some seconds off that of `Date`.
 * 2. Slope: where values count seconds (or milliseconds) down with time, to the end, they are those: a
 *    delta in the other unit would have had to follow the clock by accident.
 *
 * @param samples of one deployment, each key's in order of time
 * @param clock null where the service sends no `Date`: an epoch then may lie anywhere after 2001
 */
export function inferResetUnit(
  samples: readonly ResetSample[],
  clock: ServiceClock | null,
): UnitInference {
  const ruledOut = new Map<ResetUnit, readonly ResetSample[]>()
  for (const unit of resetUnits) {
    const odd = samples.find((sample) => !inRange(unit, sample, clock))
    if (odd !== undefined) ruledOut.set(unit, [odd])
    else if (clock !== null && isEpoch(unit)) {
      const { latest, earliest, ...limiters } = boundsOf(unit, samples, clock)
      if (limiters.lowUs > limiters.highUs) ruledOut.set(unit, [latest!, earliest!])
    }
  }
  for (const [unit, other] of [
    ['delta-s', 'delta-ms'],
    ['delta-ms', 'delta-s'],
  ] as const) {
    const falling = fallsWithTime(
      samples.filter((sample) => inRange(unit, sample, clock)),
      unit,
    )
    if (falling !== null && !ruledOut.has(other)) ruledOut.set(other, falling)
  }
  return { units: resetUnits.filter((unit) => !ruledOut.has(unit)), ruledOut }
}

/** The clock by which epochs of the unit lie between now and a window ahead; null where none is known. */
export function limiterClock(
  unit: ResetUnit,
  samples: readonly ResetSample[],
  clock: ServiceClock | null,
): ServiceClock | null {
  if (clock === null || !isEpoch(unit)) return clock
  const { lowUs, highUs } = boundsOf(unit, samples, clock)
  return lowUs <= highUs ? { lowUs, highUs } : null
}

/** Bounds of a limiter's clock, crossed where none fits, and the samples that set them. */
interface Bounds extends ServiceClock {
  readonly latest: ResetSample | null
  readonly earliest: ResetSample | null
}

function boundsOf(
  unit: ResetUnit,
  samples: readonly ResetSample[],
  { lowUs, highUs }: ServiceClock,
): Bounds {
  const roundingUs = unitUs[unit]
  let bounds: Bounds = {
    ...{ lowUs: lowUs - mostSkewUs, highUs: highUs + mostSkewUs },
    ...{ latest: null, earliest: null },
  }
  for (const sample of samples) {
    const { request, value, windowUs } = sample
    const us = value * roundingUs
    const low = us - roundingUs - (request.untilUs + windowUs + slackUs)
    const high = us + roundingUs - (request.fromUs - slackUs)
    if (low > bounds.lowUs) bounds = { ...bounds, lowUs: low, latest: sample }
    if (high < bounds.highUs) bounds = { ...bounds, highUs: high, earliest: sample }
  }
  return bounds
}

function isEpoch(unit: ResetUnit): boolean {
  return unit !== 'delta-s' && unit !== 'delta-ms'
}

/**
 * When a reset happens, on the clock of the requests; null for an epoch without a clock.
 * The interval holds the unit's rounding.
 *
 * @param clock the one that the epoch is told by, see {@link limiterClock}
 */
export function resetInstant(
  unit: ResetUnit,
  { request, value }: ResetSample,
  clock: ServiceClock | null,
): { readonly lowUs: number; readonly highUs: number } | null {
  const us = value * unitUs[unit]
  const roundingUs = unitUs[unit]
  if (!isEpoch(unit)) {
    return { lowUs: request.fromUs + us - roundingUs, highUs: request.untilUs + us + roundingUs }
  }
  if (clock === null) return null
  return { lowUs: us - clock.highUs - roundingUs, highUs: us - clock.lowUs + roundingUs }
}

/** Unix time in microseconds of a day in 2001: below it no epoch of a service lies. */
const earliestEpochUs = 1e15

function inRange(unit: ResetUnit, sample: ResetSample, clock: ServiceClock | null): boolean {
  const { value, windowUs } = sample
  if (value < 0) return false
  if (!isEpoch(unit)) {
    return value * unitUs[unit] <= windowUs + slackUs
  }
  if (clock === null) {
    return value * unitUs[unit] >= earliestEpochUs && value * unitUs[unit] < 10 * earliestEpochUs
  }
  const { lowUs, highUs } = boundsOf(unit, [sample], clock)
  return lowUs <= highUs
}

/** Countdowns must be followed so long, by values so far apart, or noise could do it. */
const leastVotes = 3
const countUs = 5e6
const voteUs = 1e6

/** Values that fell with time from `first` on: they all tell the same end. */
interface Countdown {
  readonly first: ResetSample
  last: ResetSample
  /** Values after the first that told the same end. */
  votes: number
  /** Values that are none of any count, while this one ran. */
  strays: number
  /** Others have begun since the last of them, before this one had come to zero. */
  passedOver: boolean
}

/** How long the value may have been on its way. */
function answerUs({ request }: ResetSample): number {
  return request.untilUs - request.fromUs
}

/** Whether the whole window is left: one that no request has begun tells that for as long as it waits. */
function isWhole({ value, windowUs }: ResetSample, unit: 'delta-s' | 'delta-ms'): boolean {
  return Math.abs(value * unitUs[unit] - windowUs) <= slackUs
}

/**
 * The first and last of values, of one key, limit and route, that count down with time: each fell exactly with
 * it, and a new count begins only where one is over. In the other unit a bucket that is nearly full tells about
 * the same number again and again, which falls for a few seconds by accident, and rises before it is over.
 *
 * A stray between two values of one count breaks nothing, and counts that broke off outweigh one that did not.
 */
function fallsWithTime(
  samples: readonly ResetSample[],
  unit: 'delta-s' | 'delta-ms',
): readonly ResetSample[] | null {
  const groups = Map.groupBy(
    samples,
    ({ request: { limit, key, endpoint } }) => `${limit} ${endpoint} ${key}`,
  )
  for (const group of groups.values()) {
    const counts = countdownsOf(group, unit)
    const ran = counts.filter(({ passedOver, votes }) => !passedOver && votes > 0)
    const broken = counts.filter(({ passedOver }) => passedOver)
    const against = sum(ran, ({ strays }) => strays) + sum(broken, ({ votes }) => votes + 1)
    const votes = sum(ran, (count) => count.votes)
    if (votes < leastVotes || votes <= 2 * against || sum(ran, lengthUs) < countUs) continue
    const [{ first, last }] = ran.sort((a, b) => lengthUs(b) - lengthUs(a)) as [Countdown]
    return [first, last]
  }
  return null
}

function lengthUs({ first, last }: Countdown): number {
  return last.request.fromUs - first.request.fromUs
}

function sum<Each>(of: readonly Each[], value: (each: Each) => number): number {
  return of.reduce((total, each) => total + value(each), 0)
}

/** Every value, in the count that it goes on with, or begins. */
function countdownsOf(
  samples: readonly ResetSample[],
  unit: 'delta-s' | 'delta-ms',
): readonly Countdown[] {
  const over: Countdown[] = []
  let running: Countdown[] = []
  for (const sample of samples) {
    const left = ({ first }: Countdown) =>
      first.value * unitUs[unit] - (sample.request.fromUs - first.request.fromUs)
    const off = (countdown: Countdown) => Math.abs(sample.value * unitUs[unit] - left(countdown))
    // What is about zero fits the end of any.
    over.push(...running.filter((countdown) => left(countdown) <= slackUs))
    running = running.filter((countdown) => left(countdown) > slackUs)
    const own = running.find((countdown) => off(countdown) <= slackUs)
    if (own !== undefined) {
      own.passedOver = false
      // At once, a value says the same again; one that stands still is near the line for as long as it may be off.
      const passedUs = sample.request.fromUs - own.last.request.fromUs
      const fellUs = (own.last.value - sample.value) * unitUs[unit]
      if (passedUs < voteUs || fellUs < passedUs / 2) continue
      own.last = sample
      own.votes++
      continue
    }
    for (const countdown of running) {
      // A little off may be late, and a value may be as old as its answer took.
      const lateUs = 2 * slackUs + answerUs(countdown.first) + answerUs(sample)
      const waits = isWhole(countdown.first, unit) && isWhole(sample, unit)
      if (off(countdown) <= lateUs || waits) continue
      countdown.passedOver = true
      countdown.strays++
    }
    running.push({ first: sample, last: sample, votes: 0, strays: 0, passedOver: false })
  }
  return [...over, ...running]
}
