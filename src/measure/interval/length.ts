import type { Interval } from './interval.ts'
import type { Series } from './series.ts'

/** A repetition has noise of its own: so much longer than the interval alone would need. */
const ownNoise = 1.5
/** A run is longer than it must be by so much, or is not longer at all. */
const margin = 1.2

/**
 * About how many requests decide whether a figure is beyond a bound, if the service stays as it is (decision 0810).
 *
 * @param distance from the figure to the bound, in standard errors
 * @param atLeast times that the series must be longer for another reason
 */
export function neededFor(n: number, t: number, distance: number, atLeast = 0): number {
  const far = Math.max(Math.abs(distance), 0.25)
  return Math.ceil(n * Math.max(margin, ownNoise * (t / far) ** 2, margin * atLeast))
}

/** The same for a percentile; null if no number of requests would, because values that were cut off are open. */
export function neededForPercentile(series: Series, p: number, bound: number): number | null {
  const { worth, t } = series.percentile(p)
  const [least, most] = series.within(bound)
  if (least < p && p <= most) return null
  const share = least < p ? most : least
  const distance = (share - p) / Math.sqrt((p * (1 - p)) / worth)
  // Both bounds of a percentile take so many independent requests.
  const forBounds = (4.5 * Math.max(p, 1 - p)) / Math.min(p, 1 - p) / worth
  return neededFor(series.n, t, distance, Math.max(series.lacking, forBounds))
}

/** The same for a mean, on a logarithmic scale. */
export function neededForMean(series: Series, bound: number): number | null {
  const { value, low, t } = series.mean()
  if (series.isOpen || value <= 0 || bound <= 0 || low === null) return null
  const error = Math.log(value / low) / t
  return neededFor(series.n, t, Math.log(bound / value) / error, series.lacking)
}

/** The same for a share or a rate on a straight scale. */
export function neededForLinear(
  n: number,
  { value, worth, t }: Interval,
  bound: number,
  variance: number,
): number {
  return neededFor(n, t, (value - bound) / Math.sqrt(Math.max(variance, 1e-12) / worth))
}

/**
 * The same for a change between two runs, both of which are lengthened.
 *
 * @param interval of the change; null for no bound
 * @param longer times that the runs must be longer for a bound; null if that is not known
 * @returns null if it is not known
 */
export function neededToTell(
  n: number,
  change: number,
  interval: readonly [low: number | null, high: number | null] | null,
  longer: number | null,
): number | null {
  const ends = (interval ?? []).filter((end) => end !== null)
  if (ends.length < 2) return longer === null ? null : Math.ceil(n * margin * Math.max(1, longer))
  const half = (ends[1]! - ends[0]!) / 2
  return half === 0 ? null : neededFor(n, 1, change / half)
}

/** A mean of fewer values has no interval. */
export const fewestOfMean = 11

/** Chance that no request of a sample lies beyond a limit that the service does not keep. */
const missedChance = 0.05
/** A limit is far if the worst request is at most half of it. */
export const farFactor = 2

/**
 * How many requests, none of them beyond a limit, show that no more than a share `beyond` of all is: 29, 59 and 299 for
 * the limit of a p90, p95 and p99; at least as many as a mean needs. Of a limit that is far, requests need not be
 * independent (decision 0811).
 */
export const neededOfNone = (beyond: number): number =>
  Math.max(fewestOfMean, Math.ceil(Math.log(missedChance) / Math.log1p(-beyond)))
