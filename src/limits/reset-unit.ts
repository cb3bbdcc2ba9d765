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

/** Rounding to the next unit, up or down, and timers that are late. */
const slackUs = 1.5e6

/**
 * The set of units in which every sample makes sense. It never drops the true one; two survivors
 * mean that the samples fit both.
 *
 * 1. Range: an epoch lies near now, a delta between 0 and the window that the limit names.
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

/**
 * When a reset happens, on the clock of the arrivals; null for an epoch without a clock.
 * The interval holds the unit's rounding.
 */
export function resetInstant(
  unit: ResetUnit,
  { arrival, value }: ResetSample,
  clock: ServiceClock | null,
): { readonly lowUs: number; readonly highUs: number } | null {
  const us = value * unitUs[unit]
  const roundingUs = unitUs[unit]
  if (unit === 'delta-s' || unit === 'delta-ms') {
    return { lowUs: arrival.fromUs + us - roundingUs, highUs: arrival.untilUs + us + roundingUs }
  }
  if (clock === null) return null
  return { lowUs: us - clock.highUs - roundingUs, highUs: us - clock.lowUs + roundingUs }
}

/** Unix time in microseconds of a day in 2001: below it no epoch of a service lies. */
const earliestEpochUs = 1e15

function inRange(unit: ResetUnit, sample: ResetSample, clock: ServiceClock | null): boolean {
  const { arrival, value, windowUs } = sample
  if (value < 0) return false
  if (unit === 'delta-s' || unit === 'delta-ms') {
    return value * unitUs[unit] <= windowUs + slackUs
  }
  if (clock === null) {
    return value * unitUs[unit] >= earliestEpochUs && value * unitUs[unit] < 10 * earliestEpochUs
  }
  const instant = resetInstant(unit, sample, clock)!
  return (
    instant.highUs >= arrival.fromUs - slackUs &&
    instant.lowUs <= arrival.untilUs + windowUs + slackUs
  )
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
      // A little off may be late.
      if (leftUs > slackUs && offUs > 2 * slackUs) countdown.broken = true
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
