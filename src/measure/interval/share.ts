import { averageOf } from './average.ts'
import { betaQuantile } from './distributions.ts'
import type { Interval } from './interval.ts'
import { effectOf } from './series.ts'

/** A share of fewer independent bursts has no bound on the far side. */
const fewestBursts = 20
/** A rate of seconds that are worth fewer independent ones has no interval. */
export const fewestSeconds = 20
const normal = 1.96

/** Where a share of independent requests is: Clopper and Pearson's interval. @param k of them, above 0, count; both may be no whole numbers */
export const exactInterval = (k: number, n: number) => ({
  value: k / n,
  low: k === 0 ? 0 : betaQuantile(0.025, k, n - k + 1),
  high: k === n ? 1 : betaQuantile(0.975, k + 1, n - k),
})

/**
 * The share of requests that count, such as errors: Clopper and Pearson's interval at the effective number of requests
 * (Korn and Graubard 1998). A share of 0 or 1 takes its requests as independent: it assumes that errors come singly.
 *
 * @param counts 1 for each request that counts, else 0, in the order of planned sends; at least one
 */
export function shareInterval(counts: Uint8Array): Interval {
  const n = counts.length
  const share = counts.reduce((sum, each) => sum + each, 0) / n
  const { effect, t } = effectOf(n, (at) => counts[at]!, share * (1 - share))
  const worth = n / effect
  const used = share === 0 || share === 1 ? n : worth * (normal / t) ** 2
  const { low, high } = exactInterval(share * used, used)
  const isRare = effect > 2 && Math.min(share, 1 - share) * worth < fewestBursts
  return {
    value: share,
    low: isRare && share > 0.5 ? null : low,
    high: isRare && share <= 0.5 ? null : high,
    worth,
    t,
  }
}

/** The mean of the counts of whole seconds. @param counts of each second, in order; at least one */
export function rateInterval(counts: Float64Array): Interval {
  const n = counts.length
  const { mean, variance } = averageOf(counts)
  const { effect, t } = effectOf(n, (at) => counts[at]!, variance)
  const worth = n / effect
  const half = t * Math.sqrt((variance * effect) / n)
  const isShort = worth < fewestSeconds
  return {
    value: mean,
    low: isShort ? null : Math.max(0, mean - half),
    // Of no event at all, the seconds are taken as independent: e^(-3.69) is 2.5 %.
    high: isShort ? null : mean === 0 ? 3.69 / n : mean + half,
    worth,
    t,
  }
}
