import { percentileOf } from '../../measure/percentile.ts'
import { dayUs } from '../../user/durations.ts'
import type { Random } from '../../user/random.ts'

/** The burn of a past local day, or of its measured part. */
export interface PastDay {
  readonly startUs: number
  /** 1 is Monday. */
  readonly weekday: number
  /** In the unit of the forecast. */
  readonly credits: number
  /** The measured share of the day; 1 is a full day. */
  readonly share: number
}

/** Days in the model: six of each weekday. */
const windowDays = 42
/** Measured days from which the model has a trend. */
const trendDays = 6.5
/** The least level that scales the noise, as a share of the mean size of a day's burn: refunds can make a burn less than 0. */
const leastLevel = 0.1
/** Widens the uncertainty of the coefficients, because the model itself is an approximation. */
const caution = 1.05
/** Days that scatter by more than so much of their mean are bursts. */
const burstScatter = 0.3
/** How much each unit of scatter beyond that widens it: few bursts say little of how many come. */
const burstCaution = 0.7

/**
 * The burn of a day in one possible future.
 *
 * @param ahead days after the last measured one
 * @param share of the day
 */
export type BurnDraw = (ahead: number, weekday: number, share: number) => number

export interface BurnModel {
  /** Expected burn of a full day. */
  readonly expected: (ahead: number, weekday: number) => number
  readonly draw: (random: Random) => BurnDraw
}

/** Weekly patterns: one level, working days and weekends, or each weekday its own. */
const rhythms: readonly ((weekday: number) => readonly number[])[] = [
  () => [1],
  (weekday) => (weekday <= 5 ? [1, 0] : [0, 1]),
  (weekday) => [1, 2, 3, 4, 5, 6, 7].map((each) => (each === weekday ? 1 : 0)),
]

/**
 * A linear model of daily burn, fitted to the last days: a level, possibly per weekday or for weekends, and a trend. A
 * part of a day counts as that part of an observation.
 *
 *     credits / share = level of the weekday + trend * days + noise / sqrt(share)
 *
 * A future draws the scale of the noise, then coefficients that fit it, then a residual for each day. So the
 * uncertainty of few days widens the interval as Student's t does. The trend continues for as many days as were
 * measured, then stays constant. A day far above all others is not carried on (`farDays`).
 *
 * @param past oldest first, of at least two days
 */
export function fitBurn(past: readonly PastDay[]): BurnModel {
  const all = past.slice(-windowDays)
  const far = farDays(all)
  const days = all.filter((day) => !far.has(day))
  const { features, fit, aheadOf, size } = bestFit(days, all.at(-1)!.startUs)
  // Rounding errors of an even burn are not noise.
  const deviation = fit.deviation < 1e-9 * size ? 0 : fit.deviation
  // Noise grows with the square root of the level, as for counts.
  const rootOf = (x: readonly number[]) =>
    Math.sqrt(Math.max(leastLevel * size, dot(fit.coefficients, x)))
  const noises = fit.residuals.flatMap((residual, at) =>
    residual === null ? [] : [residual / rootOf(features(aheadOf(days[at]!), days[at]!.weekday))],
  )
  const usual = noises.length
  // One spike far above all others is chance; more come again as often as they came.
  if (spikesOf(far) > 1)
    for (const day of far) {
      const x = features(aheadOf(day), day.weekday)
      const excess = (day.credits - day.share * dot(fit.coefficients, x)) / Math.sqrt(day.share)
      noises.push(excess / rootOf(x))
    }
  const isShort = size > 0 && days.length < fewDays
  const bursts = isShort ? Math.max(0, deviation / size - burstScatter) : 0
  const doubtful = caution * (1 + burstCaution * bursts)
  const excess = noises.slice(usual).reduce((sum, each) => sum + each, 0) / noises.length

  return {
    expected: (ahead, weekday) => {
      const x = features(ahead, weekday)
      return Math.max(0, dot(fit.coefficients, x) + (excess === 0 ? 0 : rootOf(x) * excess))
    },
    draw: (random) => {
      const doubt = Math.sqrt(fit.freedom / chiSquare(fit.freedom, random))
      const own = fit.drawCoefficients(doubtful * doubt * deviation, random)
      return (ahead, weekday, share) => {
        const x = features(ahead, weekday)
        const level = share * dot(own, x)
        if (deviation === 0 && noises.length === usual) return level
        const drawn = Math.floor(random() * noises.length)
        const noise = (drawn < usual ? doubt : 1) * noises[drawn]!
        return level + Math.sqrt(share) * rootOf(x) * noise
      }
    },
  }
}

interface BurnFit {
  readonly features: (ahead: number, weekday: number) => readonly number[]
  readonly fit: LeastSquares
  readonly aheadOf: (day: Pick<PastDay, 'startUs'>) => number
  /** The mean size of a day's burn. */
  readonly size: number
  readonly cost: number
}

/** The fit of the weekly pattern that costs least. @param lastUs the start of the last measured day, from which days are counted */
function bestFit(days: readonly PastDay[], lastUs: number): BurnFit {
  const aheadOf = ({ startUs }: Pick<PastDay, 'startUs'>) => Math.round((startUs - lastUs) / dayUs)
  const span = 1 - aheadOf(days[0]!)
  const seen = days.reduce((sum, day) => sum + day.share, 0)
  const size = days.reduce((sum, day) => sum + Math.abs(day.credits), 0) / seen
  const hasTrend = seen >= trendDays
  const fits = rhythms.flatMap((rhythm): readonly BurnFit[] => {
    const features = (ahead: number, weekday: number) =>
      hasTrend ? [...rhythm(weekday), Math.min(ahead, span)] : rhythm(weekday)
    const fit = fitLeastSquares(
      days.map((day) => ({
        x: features(aheadOf(day), day.weekday),
        y: day.credits,
        share: day.share,
      })),
    )
    return fit === null
      ? []
      : [{ features, fit, aheadOf, size, cost: costOf(fit, days.length, size) }]
  })
  return fits.reduce((best, each) => (each.cost < best.cost ? each : best))
}

/** Days from which one can be far above the others. */
const farFrom = 7
/** A far day exceeds what the others say by so many robust deviations, and by the mean of a day. */
const farDeviations = 6
/** The same of so few days: their scatter is hardly known, and bursts must not look like chance. */
const fewDays = 10
const farDeviationsOfFew = 30
/** At most one spike for so many days: more are a pattern. */
const mostFar = 0.1

/**
 * Days far above what the others say, one after the other, the farthest first. They say nothing about level, trend and weekdays.
 * None if their spikes are more than a tenth of the days: then they are a pattern. Two and more days at the end are a change that goes on.
 */
function farDays(days: readonly PastDay[]): ReadonlySet<PastDay> {
  const far = new Set<PastDay>()
  if (days.length < farFrom) return far
  const lastUs = days.at(-1)!.startUs
  const most = Math.max(1, Math.floor(mostFar * days.length))
  for (;;) {
    const farthest = farthestDay(
      days.filter((day) => !far.has(day)),
      lastUs,
    )
    if (farthest === null) break
    far.add(farthest)
    if (spikesOf(far) > most) return new Set()
  }
  const lastUsual = days.findLastIndex((day) => !far.has(day))
  const ending = days.slice(lastUsual + 1)
  if (ending.length > 1) for (const day of ending) far.delete(day)
  return far
}

/** How many spikes these days are: midnight may split one over two days, and another zone has it within one. */
function spikesOf(days: ReadonlySet<PastDay>): number {
  const starts = [...days].map(({ startUs }) => startUs).sort((a, b) => a - b)
  let spikes = 0
  // A day that follows the first of a spike belongs to it; a third day begins another.
  let beganUs = Number.NEGATIVE_INFINITY
  for (const us of starts) {
    if (us - beganUs < 1.5 * dayUs) continue
    spikes++
    beganUs = us
  }
  return spikes
}

/** The day that the others explain least, or the one of the greatest burn, if it is far above them; else null. */
function farthestDay(days: readonly PastDay[], lastUs: number): PastDay | null {
  const { residuals } = bestFit(days, lastUs).fit
  const placeOfMost = (of: (at: number) => number) =>
    days.reduce((best, _, at) => (of(at) > of(best) ? at : best), 0)
  // A day that alone decided its fit has no residual.
  const places = [
    placeOfMost((at) => residuals[at] ?? 0),
    placeOfMost((at) => days[at]!.credits / days[at]!.share),
  ]
  // Two parts of one spike hide each other, so both are judged by the days beside them.
  const isPart = (at: number) => {
    const other = [at - 1, at + 1].reduce((best, each) =>
      (days[each]?.credits ?? 0) > (days[best]?.credits ?? 0) ? each : best,
    )
    return isFar(days, at, lastUs, other) && isFar(days, other, lastUs, at)
  }
  const isSpike = (at: number) => isFar(days, at, lastUs) || isPart(at)
  return days[places.find(isSpike) ?? -1] ?? null
}

/**
 * Whether a day exceeds what the others say of it by their scatter many times over, and by a whole day's burn.
 *
 * @param without the place of another day that says nothing of it
 */
function isFar(days: readonly PastDay[], place: number, lastUs: number, without?: number): boolean {
  const day = days[place]
  if (day === undefined) return false
  const others = days.filter((_, at) => at !== place && at !== without)
  if (others.every(({ credits }) => credits <= 0)) return false
  const { features, fit, aheadOf, size } = bestFit(others, lastUs)
  const sizes = fit.residuals
    .flatMap((each) => (each === null ? [] : [Math.abs(each)]))
    .sort((a, b) => a - b)
  const deviation = 1.4826 * (percentileOf(sizes, 0.5) ?? 0)
  const told = day.share * dot(fit.coefficients, features(aheadOf(day), day.weekday))
  const excess = (day.credits - told) / Math.sqrt(day.share)
  const most = days.length < fewDays ? farDeviationsOfFew : farDeviations
  return excess > most * deviation && day.credits - told > size
}

/** Akaike's criterion, corrected for few observations, without the terms that all fits share. */
function costOf(fit: LeastSquares, n: number, burn: number): number {
  const size = fit.coefficients.length
  const least = (1e-9 * burn) ** 2
  const squares = Math.max(fit.deviation ** 2 * fit.freedom, least)
  return n * Math.log(squares) + (2 * size * n) / Math.max(0.5, fit.freedom - 1)
}

interface LeastSquares {
  readonly coefficients: readonly number[]
  /** Observations minus coefficients. */
  readonly freedom: number
  /** Of the noise of a whole observation. */
  readonly deviation: number
  /**
   * Residual of each observation, scaled to a whole observation and corrected for its leverage; null if it alone
   * decided its fit.
   */
  readonly residuals: readonly (number | null)[]
  /** Draws coefficients that fit the observations, for noise of this deviation. */
  readonly drawCoefficients: (deviation: number, random: Random) => readonly number[]
}

/** Weighted least squares, since observations may be parts of days; null if they do not determine the coefficients. */
function fitLeastSquares(
  observed: readonly {
    readonly x: readonly number[]
    readonly y: number
    readonly share: number
  }[],
): LeastSquares | null {
  const size = observed[0]!.x.length
  const freedom = observed.length - size
  const normal = Array.from({ length: size }, (_, i) =>
    Array.from({ length: size }, (_, j) =>
      observed.reduce((sum, { x, share }) => sum + share * x[i]! * x[j]!, 0),
    ),
  )
  const lower = cholesky(normal)
  if (lower === null || freedom < 1) return null
  const right = Array.from({ length: size }, (_, i) =>
    observed.reduce((sum, { x, y }) => sum + y * x[i]!, 0),
  )
  const coefficients = solveUpper(lower, solveLower(lower, right))
  const residuals = observed.map(({ x, y, share }) => {
    const pulled = solveLower(lower, x)
    const free = 1 - share * dot(pulled, pulled)
    return { raw: (y - share * dot(coefficients, x)) / Math.sqrt(share), free }
  })
  const squares = residuals.reduce((sum, { raw }) => sum + raw * raw, 0)
  const deviation = Math.sqrt(squares / freedom)
  return {
    coefficients,
    freedom,
    deviation,
    residuals: residuals.map(({ raw, free }) => (free < 0.01 ? null : raw / Math.sqrt(free))),
    drawCoefficients: (of, random) => {
      const normals = coefficients.map(() => normalDraw(random))
      const shift = solveUpper(lower, normals)
      return coefficients.map((each, at) => each + of * shift[at]!)
    },
  }
}

function dot(a: readonly number[], b: readonly number[]): number {
  let sum = 0
  for (let at = 0; at < a.length; at++) sum += a[at]! * b[at]!
  return sum
}

const normalDraw = (random: Random): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())

function chiSquare(freedom: number, random: Random): number {
  let sum = 0
  for (let at = 0; at < freedom; at++) sum += normalDraw(random) ** 2
  return sum
}

/** The lower triangular factor of the matrix; null if it is singular. */
function cholesky(matrix: readonly (readonly number[])[]): readonly (readonly number[])[] | null {
  const lower: number[][] = []
  for (const [i, row] of matrix.entries()) {
    lower.push([])
    for (let j = 0; j <= i; j++) {
      let rest = row[j]!
      for (let k = 0; k < j; k++) rest -= lower[i]![k]! * lower[j]![k]!
      if (i === j && rest < 1e-9) return null
      lower[i]!.push(i === j ? Math.sqrt(rest) : rest / lower[j]![j]!)
    }
  }
  return lower
}

function solveLower(lower: readonly (readonly number[])[], right: readonly number[]): number[] {
  const x: number[] = []
  for (const [i, row] of lower.entries()) {
    let rest = right[i]!
    for (let k = 0; k < i; k++) rest -= row[k]! * x[k]!
    x.push(rest / row[i]!)
  }
  return x
}

/** Solves with the transposed triangle. */
function solveUpper(lower: readonly (readonly number[])[], right: readonly number[]): number[] {
  const x = [...right]
  for (let i = lower.length - 1; i >= 0; i--) {
    for (let k = i + 1; k < lower.length; k++) x[i]! -= lower[k]![i]! * x[k]!
    x[i]! /= lower[i]![i]!
  }
  return x
}
