import type { LimitedRequest } from './limited-request.ts'
import type { ServiceClock } from './service-clock.ts'

/** Units that X-RateLimit-Reset may have. */
export const resetUnits = ['delta-s', 'delta-ms', 'epoch-s', 'epoch-ms', 'epoch-us'] as const
export type ResetUnit = (typeof resetUnits)[number]

/** Microseconds per unit. */
const unitUs: Readonly<Record<ResetUnit, number>> = {
  'delta-s': 1e6,
  'delta-ms': 1e3,
  'epoch-s': 1e6,
  'epoch-ms': 1e3,
  'epoch-us': 1,
}

export interface ResetSample {
  readonly request: LimitedRequest
  readonly value: number
  /** The reset lies at most this far ahead. */
  readonly windowUs: number
  /** The unit that the value itself says, as `9.123s` and `1m30s` do; absent for a number alone. */
  readonly stated?: ResetUnit
}

export interface UnitInference {
  readonly units: readonly ResetUnit[]
  /** The samples that rule out a unit. */
  readonly ruledOut: ReadonlyMap<ResetUnit, readonly ResetSample[]>
}

/**
 * Largest difference between the clock of a limiter's epochs and that of `Date`, which a proxy may
 * write. Neither is promised.
 */
const mostSkewUs = 60e6

/** Rounding to the next unit, up or down, and late timers. */
const slackUs = 1.5e6

/**
 * The units that fit every sample. The true unit always fits; others may fit too.
 *
 * 1. Range: a delta lies between 0 and the sample's window. So does an epoch minus now, by one clock,
 *    which may differ from that of `Date` by up to a minute.
 * 2. Slope: values that count down seconds (or milliseconds) with time have that unit. A delta in the
 *    other unit would follow the clock only by accident.
 *
 * @param samples of one deployment; those of each key together, in order of time
 * @param clock null if the service sends no `Date`; an epoch may then lie anywhere after 2001
 */
export function inferResetUnit(
  samples: Iterable<ResetSample>,
  clock: ServiceClock | null,
): UnitInference {
  const odd = new Map<ResetUnit, ResetSample>()
  const epochs =
    clock === null ? [] : resetUnits.filter(isEpoch).map((unit) => new Bounds(unit, clock))
  for (const sample of samples) {
    for (const unit of resetUnits) {
      if (!odd.has(unit) && !inRange(unit, sample, clock)) odd.set(unit, sample)
    }
    for (const bounds of epochs) bounds.add(sample)
  }
  const ruledOut = new Map<ResetUnit, readonly ResetSample[]>()
  for (const unit of resetUnits) {
    const alone = odd.get(unit)
    const bounds = epochs.find((each) => each.unit === unit)
    if (alone !== undefined) ruledOut.set(unit, [alone])
    else if (bounds?.isEmpty === true) ruledOut.set(unit, [bounds.latest!, bounds.earliest!])
  }
  for (const [unit, other] of [
    ['delta-s', 'delta-ms'],
    ['delta-ms', 'delta-s'],
  ] as const) {
    if (ruledOut.has(other)) continue
    const falling = fallsWithTime(samples, unit, clock)
    if (falling !== null) ruledOut.set(other, falling)
  }
  return { units: resetUnits.filter((unit) => !ruledOut.has(unit)), ruledOut }
}

/** The clock by which every epoch of the unit lies between now and a window ahead; null if none is known. */
export function limiterClock(
  unit: ResetUnit,
  samples: Iterable<ResetSample>,
  clock: ServiceClock | null,
): ServiceClock | null {
  if (clock === null || !isEpoch(unit)) return clock
  const bounds = new Bounds(unit, clock)
  for (const sample of samples) bounds.add(sample)
  return bounds.isEmpty ? null : { lowUs: bounds.lowUs, highUs: bounds.highUs }
}

/** Bounds of a limiter's clock by its epochs, and the samples that set them; empty if no clock fits. */
class Bounds {
  readonly unit: ResetUnit
  lowUs: number
  highUs: number
  latest: ResetSample | null = null
  earliest: ResetSample | null = null

  constructor(unit: ResetUnit, { lowUs, highUs }: ServiceClock) {
    this.unit = unit
    this.lowUs = lowUs - mostSkewUs
    this.highUs = highUs + mostSkewUs
  }

  add(sample: ResetSample): void {
    const { request, value, windowUs } = sample
    const roundingUs = unitUs[this.unit]
    const us = value * roundingUs
    const low = us - roundingUs - (request.untilUs + windowUs + slackUs)
    const high = us + roundingUs - (request.fromUs - slackUs)
    if (low > this.lowUs) {
      this.lowUs = low
      this.latest = sample
    }
    if (high < this.highUs) {
      this.highUs = high
      this.earliest = sample
    }
  }

  get isEmpty(): boolean {
    return this.lowUs > this.highUs
  }
}

export const isEpoch = (unit: ResetUnit): boolean => unit !== 'delta-s' && unit !== 'delta-ms'

/** An epoch in microseconds, with its rounding. */
export function epochOf(unit: ResetUnit, value: number) {
  const us = value * unitUs[unit]
  return { lowUs: us - unitUs[unit], highUs: us + unitUs[unit] }
}

/**
 * When a reset happens, on the clock of the requests; null for an epoch without a clock.
 * The interval includes the unit's rounding.
 *
 * @param clock the clock of the epochs, see {@link limiterClock}
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

/** Unix time in microseconds of a day in 2001; no epoch of a service is earlier. */
const earliestEpochUs = 1e15

function inRange(unit: ResetUnit, sample: ResetSample, clock: ServiceClock | null): boolean {
  const { value, windowUs, stated } = sample
  if (value < 0 || (stated !== undefined && stated !== unit)) return false
  if (!isEpoch(unit)) return value * unitUs[unit] <= windowUs + slackUs
  if (clock === null) {
    return value * unitUs[unit] >= earliestEpochUs && value * unitUs[unit] < 10 * earliestEpochUs
  }
  const bounds = new Bounds(unit, clock)
  bounds.add(sample)
  return !bounds.isEmpty
}

/** A countdown needs this many votes, this length, and votes this far apart, or noise could pass for it. */
const leastVotes = 3
const countUs = 5e6
const voteUs = 1e6

/** Values that fall with time from `first` on: they all show the same end. */
interface Countdown {
  readonly first: ResetSample
  last: ResetSample
  /** Values after the first that confirm the end. */
  votes: number
  /** Values that belonged to no countdown while this one ran. */
  strays: number
  /** Another countdown began since `last`, before this one reached zero. */
  brokeOff: boolean
}

/** The greatest age of the value on arrival. */
const answerUs = ({ request }: ResetSample): number => request.untilUs - request.fromUs

/** Whether the value is a whole window, which a window that has not begun shows all the time. */
const isWhole = ({ value, windowUs }: ResetSample, unit: 'delta-s' | 'delta-ms'): boolean =>
  Math.abs(value * unitUs[unit] - windowUs) <= slackUs

/**
 * The first and last sample of the longest countdown of one key, limit and route; null if values do not
 * count down. Each value falls with time, and a countdown begins only when one is over. In the other
 * unit, a bucket that is nearly full shows about the same number repeatedly. It falls for a few seconds
 * by accident and rises before zero.
 *
 * A stray between two values of a countdown does not end it. Votes of countdowns that broke off, and
 * strays, count against the others:
 *
 *     time    0  10  20  30  40  50
 *     value  60  50   8  30  20  10    one countdown with four votes; the 8 is a stray
 */
function fallsWithTime(
  samples: Iterable<ResetSample>,
  unit: 'delta-s' | 'delta-ms',
  clock: ServiceClock | null,
): readonly ResetSample[] | null {
  for (const group of countersOf(samples, (sample) => inRange(unit, sample, clock))) {
    const counts = countdownsOf(group, unit)
    const ran = counts.filter(({ brokeOff, votes }) => !brokeOff && votes > 0)
    const broken = counts.filter(({ brokeOff }) => brokeOff)
    const against = sum(ran, ({ strays }) => strays) + sum(broken, ({ votes }) => votes + 1)
    const votes = sum(ran, (count) => count.votes)
    if (votes < leastVotes || votes <= 2 * against || sum(ran, lengthUs) < countUs) continue
    const [{ first, last }] = ran.sort((a, b) => lengthUs(b) - lengthUs(a)) as [Countdown]
    return [first, last]
  }
  return null
}

/** Chosen samples of each key, limit and route. The samples of a key are together: one key is in memory at a time. */
function* countersOf(
  samples: Iterable<ResetSample>,
  choose: (sample: ResetSample) => boolean,
): Generator<readonly ResetSample[], void, undefined> {
  let key: string | null = null
  let groups = new Map<string, ResetSample[]>()
  for (const sample of samples) {
    if (!choose(sample)) continue
    const { request } = sample
    if (request.key !== key) {
      yield* groups.values()
      groups = new Map()
      key = request.key
    }
    const name = `${request.limit} ${request.endpoint}`
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [sample])
    else group.push(sample)
  }
  yield* groups.values()
}

const lengthUs = ({ first, last }: Countdown): number => last.request.fromUs - first.request.fromUs

const sum = <Each>(of: readonly Each[], value: (each: Each) => number): number =>
  of.reduce((total, each) => total + value(each), 0)

/** Assigns each value to the countdown that it continues or begins. */
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
    // A countdown is over near zero, because a value near zero would fit the end of any.
    const isOver = (countdown: Countdown) => left(countdown) <= slackUs
    for (const countdown of running) if (isOver(countdown)) over.push(countdown)
    running = running.filter((countdown) => !isOver(countdown))
    const own = running.find((countdown) => off(countdown) <= slackUs)
    if (own !== undefined) {
      own.brokeOff = false
      // Only a value that fell votes: one that stays the same also fits the line for a while.
      const passedUs = sample.request.fromUs - own.last.request.fromUs
      const fellUs = (own.last.value - sample.value) * unitUs[unit]
      if (passedUs < voteUs || fellUs < passedUs / 2) continue
      own.last = sample
      own.votes++
      continue
    }
    for (const countdown of running) {
      // A small difference may be lateness, and a value may be as old as its response took.
      const lateUs = 2 * slackUs + answerUs(countdown.first) + answerUs(sample)
      const waits = isWhole(countdown.first, unit) && isWhole(sample, unit)
      if (off(countdown) <= lateUs || waits) continue
      countdown.brokeOff = true
      countdown.strays++
    }
    running.push({ first: sample, last: sample, votes: 0, strays: 0, brokeOff: false })
  }
  return [...over, ...running]
}
