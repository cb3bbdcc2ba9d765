import { countUpTo } from '../../user/count-below.ts'
import { largest } from '../../user/extremes.ts'
import { percentileOf } from '../percentile.ts'
import { averageOf } from './average.ts'
import type { Interval } from './interval.ts'
import { longRunOf } from './long-run.ts'

/** A series that is worth fewer independent requests may have missed the worst, if its requests are not independent. */
export const fewestWorth = 200
/** Above it, requests count as not independent: a series of independent ones seldom has more. */
const independentEffect = 2
/** Percentiles that show how far neighbouring requests depend on each other. */
const guides = [0.5, 0.75, 0.9] as const

/**
 * Times of requests, in the order of their planned sends, and what they tell of the service: the true percentiles and
 * the true mean lie in these intervals in about 95 of 100 runs, although neighbouring requests are not independent
 * (docs/comparing.md, decision 0810).
 */
export class Series {
  readonly n: number
  /** How many requests are worth one independent request; at least 1. */
  readonly effect: number
  private readonly sorted: Float64Array
  /** The values that were not cut off, ascending. */
  private readonly exact: Float64Array
  private readonly values: Float64Array
  private readonly isCut: Uint8Array | null
  private readonly average: { readonly mean: number; readonly variance: number }
  private readonly ofMean: { readonly effect: number; readonly t: number }

  /**
   * @param values microseconds, or any other unit; at least one
   * @param isCut 1 for a value that was cut off, so that the true one is at least so large; null for none
   */
  constructor(values: Float64Array, isCut: Uint8Array | null = null) {
    this.values = values
    this.isCut = isCut
    this.n = values.length
    this.sorted = values.toSorted()
    this.exact = isCut === null ? this.sorted : values.filter((_, at) => isCut[at] === 0).sort()
    this.average = averageOf(values)
    this.ofMean = effectOf(this.n, (at) => values[at]!, this.average.variance)
    this.effect = largest(
      guides.map((p) => this.above(p).effect),
      this.ofMean.effect,
    )
  }

  /** How many independent requests the series is worth. */
  get worth(): number {
    return this.n / this.effect
  }

  /** Whether it is worth so few that no upper bound can be trusted: the busiest stretches may not have come yet. */
  get isShort(): boolean {
    return this.worth < fewestWorth && this.effect > independentEffect
  }

  /** Times that a series that is short must be longer, at least. */
  get lacking(): number {
    return this.isShort ? fewestWorth / this.worth : 0
  }

  /** Woodruff's interval (1952): one of the share below, read off the ordered values. @param p between 0 and 1 */
  percentile(p: number): Interval {
    const { n, effect, isShort, sorted, exact } = this
    const own = this.above(p)
    // A tail lies within a few busy stretches, which its own values cannot show.
    const pull = Math.min(1, Math.max(100, 5 / Math.min(p, 1 - p)) / this.worth)
    const used = Math.max(own.effect, own.effect ** (1 - pull) * effect ** pull)
    const half = own.t * Math.sqrt((p * (1 - p) * used) / n)
    const low = Math.floor(n * (p - half))
    const high = Math.ceil(n * (p + half)) + 1
    return {
      value: percentileOf(sorted, p)!,
      low: low < 1 ? null : sorted[low - 1]!,
      high: isShort || high > exact.length ? null : exact[high - 1]!,
      worth: n / used,
      t: own.t,
    }
  }

  /** On a logarithmic scale, because times are skewed. A mean with a value that was cut off has no upper bound. */
  mean(): Interval {
    const { n, isShort, exact, ofMean } = this
    const { mean, variance } = this.average
    const half = ofMean.t * Math.sqrt((variance * ofMean.effect) / n)
    const [low, high] =
      mean > 0
        ? [mean * Math.exp(-half / mean), mean * Math.exp(half / mean)]
        : [mean - half, mean + half]
    const isBounded = !isShort && exact.length === n
    return {
      value: mean,
      low,
      high: isBounded ? high : null,
      worth: n / ofMean.effect,
      t: ofMean.t,
    }
  }

  /** Whether a value was cut off, so that the mean and the largest value may be any larger. */
  get isOpen(): boolean {
    return this.exact.length < this.n
  }

  /** The share of the values that are surely at most `bound`, and the share that may be. */
  within(bound: number): readonly [least: number, most: number] {
    return [countUpTo(this.exact, bound) / this.n, countUpTo(this.sorted, bound) / this.n]
  }

  get least(): number {
    return this.sorted[0]!
  }

  /** The largest value; endless if one was cut off. */
  get largest(): number {
    return this.isOpen ? Infinity : this.known
  }

  /** The largest value as far as it is known. */
  get known(): number {
    return this.sorted.at(-1)!
  }

  private above(p: number) {
    const { values, isCut } = this
    const q = percentileOf(this.sorted, p)!
    const isAbove = (at: number) => (values[at]! > q || isCut?.[at] === 1 ? 1 : 0)
    return effectOf(this.n, isAbove, p * (1 - p))
  }
}

/** How many values are worth an independent one. @param base variance that independence would give */
export function effectOf(n: number, valueAt: (at: number) => number, base: number) {
  const { variance, t } = longRunOf(n, valueAt)
  return { effect: base > 0 ? Math.max(1, variance / base) : 1, t }
}
