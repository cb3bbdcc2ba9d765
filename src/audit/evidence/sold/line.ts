/** What a request was counted, beside what its text has. */
export interface CountedPoint {
  /** Tokens of the text by the encoding of the contract, or repeats of a word. */
  readonly counted: number
  /** Tokens of the prompt that the service reports. */
  readonly reported: number
}

/** A line `reported = intercept + slope x counted`. */
export interface Line {
  readonly slope: number
  readonly intercept: number
  /** The slope is off by at most this if no count is off by more than `slackTokens`. */
  readonly bound: number
  readonly points: number
}

/** Most tokens by which one count may be off: texts merge at both ends with the template, and templates vary. */
export const slackTokens = 2

/**
 * Least squares; null if all texts have one count. Counts that are each off by at most J move the slope by at most `J x sum |w|`
 * with `w = (x - mean x) / sum (x - mean x)^2`: a bound, not a probability.
 */
export function lineOf(points: readonly CountedPoint[]): Line | null {
  const middle = mean(points.map(({ counted }) => counted))
  const spread = sum(points.map(({ counted }) => (counted - middle) ** 2))
  if (points.length < 2 || spread === 0) return null
  const weights = points.map(({ counted }) => (counted - middle) / spread)
  const slope = sum(points.map(({ reported }, at) => reported * weights[at]!))
  return {
    slope,
    intercept: mean(points.map(({ reported }) => reported)) - slope * middle,
    bound: slackTokens * sum(weights.map(Math.abs)),
    points: points.length,
  }
}

const sum = (values: readonly number[]) => values.reduce((total, each) => total + each, 0)
const mean = (values: readonly number[]) => sum(values) / values.length
