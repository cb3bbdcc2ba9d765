import type { Arrival } from './arrival.ts'
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
  readonly arrival: Arrival
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
    const { arrival, value, windowUs } = sample
    const us = value * roundingUs
    const low = us - roundingUs - (arrival.untilUs + windowUs + slackUs)
    const high = us + roundingUs - (arrival.fromUs - slackUs)
    if (low > bounds.lowUs) bounds = { ...bounds, lowUs: low, latest: sample }
    if (high < bounds.highUs) bounds = { ...bounds, highUs: high, earliest: sample }
  }
  return bounds
}

function isEpoch(unit: ResetUnit): boolean {
  return unit !== 'delta-s' && unit !== 'delta-ms'
}

/**
 * When a reset happens, on the clock of the arrivals; null for an epoch without a clock.
 * The interval holds the unit's rounding.
 *
 * @param clock the one that the epoch is told by, see {@link limiterClock}
 */
export function resetInstant(
  unit: ResetUnit,
  { arrival, value }: ResetSample,
  clock: ServiceClock | null,
): { readonly lowUs: number; readonly highUs: number } | null {
  const us = value * unitUs[unit]
  const roundingUs = unitUs[unit]
  if (!isEpoch(unit)) {
    return { lowUs: arrival.fromUs + us - roundingUs, highUs: arrival.untilUs + us + roundingUs }
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

/** A countdown must be followed so long, or noise could do it. */
const countSamples = 4
const countUs = 5e6

/** Values of one key and limit that fell with time from `first` on. */
interface Countdown {
  first: ResetSample
  count: number
  proof: readonly ResetSample[] | null
  /** A value was far off the line before that had come to zero: what fell with time did so by accident. */
  broken: boolean
}

/** How long the value may have been on its way. */
function answerUs({ arrival }: ResetSample): number {
  return arrival.untilUs - arrival.fromUs
}

/** Whether the whole window is left: one that no request has begun tells that for as long as it waits. */
function isWhole({ value, windowUs }: ResetSample, unit: 'delta-s' | 'delta-ms'): boolean {
  return Math.abs(value * unitUs[unit] - windowUs) <= slackUs
}

/**
 * The ends of values, of one key and limit, that count down with time: each fell exactly with it, and a
 * new count begins only where one is over. In the other unit a bucket that is nearly full tells about the
 * same number again and again, which falls for a few seconds by accident, and rises before it is over.
 */
function fallsWithTime(
  samples: readonly ResetSample[],
  unit: 'delta-s' | 'delta-ms',
): readonly ResetSample[] | null {
  const countdowns = new Map<string, Countdown>()
  for (const sample of samples) {
    const { key, limit } = sample.arrival
    const name = `${limit} ${key}`
    const countdown = countdowns.get(name)
    if (countdown === undefined) {
      countdowns.set(name, { first: sample, count: 1, proof: null, broken: false })
      continue
    }
    const elapsedUs = sample.arrival.fromUs - countdown.first.arrival.fromUs
    const leftUs = countdown.first.value * unitUs[unit] - elapsedUs
    const offUs = Math.abs(sample.value * unitUs[unit] - leftUs)
    if (offUs > slackUs) {
      // A little off may be late, and a value may be as old as its answer took.
      const lateUs = 2 * slackUs + answerUs(countdown.first) + answerUs(sample)
      const waits = isWhole(countdown.first, unit) && isWhole(sample, unit)
      if (leftUs > slackUs && offUs > lateUs && !waits) countdown.broken = true
      countdown.first = sample
      countdown.count = 1
      continue
    }
    countdown.count++
    if (countdown.count >= countSamples && elapsedUs >= countUs) {
      countdown.proof ??= [countdown.first, sample]
    }
  }
  return (
    [...countdowns.values()].find(({ broken, proof }) => !broken && proof !== null)?.proof ?? null
  )
}
