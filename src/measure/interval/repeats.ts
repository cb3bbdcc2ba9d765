import type { DifferenceInterval } from './difference.ts'
import { studentQuantile } from './distributions.ts'

/** Fewest runs of each side: with two, the spread between runs is hardly known. */
export const fewestRepeats = 3

/**
 * How the figures of several runs of b differ from those of a, in the unit of the figures: Welch's interval of the two means.
 * It contains what a restart, another machine or another hour changes, which no interval of one run does (Kalibera and Jones 2013).
 *
 * @param a one figure of each run, and so b
 * @returns null with fewer than `fewestRepeats` runs of a side
 */
export function repeatsInterval(
  a: readonly number[],
  b: readonly number[],
): DifferenceInterval | null {
  if (Math.min(a.length, b.length) < fewestRepeats) return null
  const change = meanOf(b) - meanOf(a)
  const [partA, partB] = [variance(a) / a.length, variance(b) / b.length]
  const sum = partA + partB
  if (sum === 0) return { change, low: change, high: change }
  const freedom = sum ** 2 / (partA ** 2 / (a.length - 1) + partB ** 2 / (b.length - 1))
  const half = studentQuantile(0.975, freedom) * Math.sqrt(sum)
  return { change, low: change - half, high: change + half }
}

/** `b / a - 1`, on logarithms; null if a figure is not above 0. */
export function repeatsRatio(
  a: readonly number[],
  b: readonly number[],
): DifferenceInterval | null {
  if ([...a, ...b].some((value) => value <= 0)) return null
  const logs = repeatsInterval(a.map(Math.log), b.map(Math.log))
  return logs === null
    ? null
    : {
        change: Math.expm1(logs.change),
        low: Math.expm1(logs.low!),
        high: Math.expm1(logs.high!),
      }
}

/** The figure that stands for several runs: their mean, or their geometric mean. */
export const meanOf = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / values.length
export const geometricMeanOf = (values: readonly number[]) => Math.exp(meanOf(values.map(Math.log)))

function variance(values: readonly number[]): number {
  const mean = meanOf(values)
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1)
}
