import type { Random } from '../random.ts'

/** A local day of the past and what it burned, or the part of one that was measured. */
export interface PastDay {
  readonly startUs: number
  /** 1 is Monday. */
  readonly weekday: number
  readonly credits: number
  /** How much of the day was measured: 1 of a full day. */
  readonly share: number
}

/** Days that the model looks at: six of each weekday. */
const windowDays = 42
/** Days from which the level has a trend. */
const trendDays = 6.5
/** The least level that noise is measured by, as a share of the mean. */
const leastLevel = 0.1
/** What the doubt of the coefficients is widened by, for what the model itself gets wrong. */
const caution = 1.05

/**
 * What a day burns, in one of the futures that the past allows.
 *
 * @param ahead days from the last one that was seen
 * @param share of the day
 */
export type BurnDraw = (ahead: number, weekday: number, share: number) => number

export interface BurnModel {
  /** What a full day is expected to burn. */
  readonly expected: (ahead: number, weekday: number) => number
  readonly draw: (random: Random) => BurnDraw
}

/** What days have in common: one level, working days and weekends, or each weekday its own. */
const rhythms: readonly ((weekday: number) => readonly number[])[] = [
  () => [1],
  (weekday) => (weekday <= 5 ? [1, 0] : [0, 1]),
  (weekday) => [1, 2, 3, 4, 5, 6, 7].map((each) => (each === weekday ? 1 : 0)),
]

/**
 * The burn of a day as a linear model of the last days: a level, which may be one for each weekday or for
 * weekends, and a trend. Part of a day counts as that part of an observation.
 *
 *     credits / share = level of the weekday + trend * days + noise / sqrt(share)
 *
 * A future draws the noise's scale, then the coefficients that go with it, then a residual for each day: so
 * the doubt of few days, which is most of it, widens the interval as Student's t does. The trend goes on for
 * as many days as were seen, and then stays.
 *
 * @param past oldest first, of at least two days
 */
export function fitBurn(past: readonly PastDay[]): BurnModel {
  const days = past.slice(-windowDays)
  const lastUs = days.at(-1)!.startUs
  const aheadOf = ({ startUs }: { readonly startUs: number }) =>
    Math.round((startUs - lastUs) / 86_400e6)
  const span = 1 - aheadOf(days[0]!)
  const seen = days.reduce((sum, day) => sum + day.share, 0)
  const mean = days.reduce((sum, day) => sum + day.credits, 0) / seen
  const hasTrend = seen >= trendDays
  const fits = rhythms.flatMap((rhythm) => {
    const features = (ahead: number, weekday: number) =>
      hasTrend ? [...rhythm(weekday), Math.min(ahead, span)] : rhythm(weekday)
    const fit = fitLeastSquares(
      days.map(({ startUs, weekday, credits, share }) => ({
        x: features(aheadOf({ startUs }), weekday),
        y: credits,
        share,
      })),
    )
    return fit === null ? [] : [{ features, fit, cost: costOf(fit, days.length, mean) }]
  })
  const { features, fit } = fits.reduce((best, each) => (each.cost < best.cost ? each : best))
  // What arithmetic leaves of an even burn is no noise.
  const deviation = fit.deviation < 1e-9 * mean ? 0 : fit.deviation
  // Noise grows with the root of the level, as that of counts does.
  const rootOf = (x: readonly number[]) =>
    Math.sqrt(Math.max(leastLevel * mean, dot(fit.coefficients, x)))
  const noises = fit.residuals.flatMap((residual, at) =>
    residual === null ? [] : [residual / rootOf(features(aheadOf(days[at]!), days[at]!.weekday))],
  )

  return {
    expected: (ahead, weekday) => Math.max(0, dot(fit.coefficients, features(ahead, weekday))),
    draw: (random) => {
      const doubt = Math.sqrt(fit.freedom / chiSquare(fit.freedom, random))
      const own = fit.drawCoefficients(caution * doubt * deviation, random)
      return (ahead, weekday, share) => {
        const x = features(ahead, weekday)
        const level = share * dot(own, x)
        if (deviation === 0) return level
        const noise = doubt * noises[Math.floor(random() * noises.length)]!
        return level + Math.sqrt(share) * rootOf(x) * noise
      }
    },
  }
}

/** Akaike's criterion, corrected for few observations, but for what all fits of these days have in common. */
function costOf(fit: LeastSquares, n: number, mean: number): number {
  const size = fit.coefficients.length
  const least = (1e-9 * mean) ** 2
  const squares = Math.max(fit.deviation ** 2 * fit.freedom, least)
  return n * Math.log(squares) + (2 * size * n) / Math.max(0.5, fit.freedom - 1)
}

interface LeastSquares {
  readonly coefficients: readonly number[]
  /** Observations beyond coefficients. */
  readonly freedom: number
  /** Of the noise of a whole observation. */
  readonly deviation: number
  /** Of each observation as if it were whole and had not pulled the fit; null where it alone decided. */
  readonly residuals: readonly (number | null)[]
  /** Coefficients that the observations allow, where the noise has that deviation. */
  readonly drawCoefficients: (deviation: number, random: Random) => readonly number[]
}

/** Least squares over observations of which some are but a share; null where they do not determine it. */
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

function normalDraw(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

function chiSquare(freedom: number, random: Random): number {
  let sum = 0
  for (let at = 0; at < freedom; at++) sum += normalDraw(random) ** 2
  return sum
}

/** The lower triangle whose product with its transpose is the matrix; null of one that is singular. */
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

/** With the transpose of the triangle. */
function solveUpper(lower: readonly (readonly number[])[], right: readonly number[]): number[] {
  const x = [...right]
  for (let i = lower.length - 1; i >= 0; i--) {
    for (let k = i + 1; k < lower.length; k++) x[i]! -= lower[k]![i]! * x[k]!
    x[i]! /= lower[i]![i]!
  }
  return x
}
