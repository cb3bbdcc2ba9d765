import { percentileOf } from '../percentile.ts'
import { averageOf } from './average.ts'
import type { DifferenceInterval } from './difference.ts'
import { longRunOf } from './long-run.ts'

/** Fewest cosines of the difference of two requests of a pair, which share what neighbours share. */
const fewestCosines = 8
/** Half of the range of ranks in which the slope at a percentile is taken, in standard errors. */
const slopeErrors = 2.58

/**
 * How b differs from a, `b / a - 1`, if each request was sent to both at nearly the same time: what both share cancels out
 * (docs/decisions/0814-two-targets-in-one-run.md). Null if a figure is not above 0.
 *
 * @param a times of the pairs, in the order of planned sends
 * @param b times of the same pairs
 * @param p between 0 and 1; null for the mean
 */
export function pairedInterval(
  a: Float64Array,
  b: Float64Array,
  p: number | null,
): DifferenceInterval | null {
  const [left, right] = [influences(a, p), influences(b, p)]
  if (left === null || right === null) return null
  const { variance, t } = longRunOf(a.length, (at) => right.each(at) - left.each(at), fewestCosines)
  const change = Math.log(right.figure / left.figure)
  const half = t * Math.sqrt(variance / a.length)
  return {
    change: Math.expm1(change),
    low: Math.expm1(change - half),
    high: Math.expm1(change + half),
  }
}

/** What each value adds to the logarithm of a figure, linearised. */
interface Influences {
  readonly figure: number
  each(at: number): number
}

function influences(values: Float64Array, p: number | null): Influences | null {
  if (p === null) {
    const { mean } = averageOf(values)
    return mean > 0 ? { figure: mean, each: (at) => values[at]! / mean } : null
  }
  const sorted = values.toSorted()
  const figure = percentileOf(sorted, p)!
  const near = Math.min(
    slopeErrors * Math.sqrt((p * (1 - p)) / values.length),
    0.8 * Math.min(p, 1 - p),
  )
  const [low, high] = [percentileOf(sorted, p - near)!, percentileOf(sorted, p + near)!]
  if (low <= 0) return null
  const slope = Math.log(high / low) / (2 * near)
  return { figure, each: (at) => (values[at]! > figure ? slope : 0) }
}
