/**
 * The number of samples that a percentile needs: the smallest n for which at least two samples lie beyond
 * the true percentile with 99 % confidence, `p^n + n p^(n-1) (1 - p) <= 0.01` (the early-stopping rule
 * of MLPerf LoadGen). 64 for p90, 662 for p99, 6,636 for p99.9.
 *
 * @param p between 0 and 1, both excluded
 */
export function samplesNeeded(p: number): number {
  const tooFew = (n: number) => p ** n + n * p ** (n - 1) * (1 - p) > 0.01
  let enough = 1
  while (tooFew(enough)) enough *= 2
  let few = enough / 2
  while (enough - few > 1) {
    const middle = Math.floor((few + enough) / 2)
    if (tooFew(middle)) few = middle
    else enough = middle
  }
  return enough
}

/** Whether so many samples tell a percentile. @param percent such as 95 */
export const areEnough = (samples: number, percent: number) =>
  samples >= samplesNeeded(percent / 100)

/**
 * Percentile of sorted values by linear interpolation, as in DuckDB's `quantile_cont` and
 * numpy's default.
 *
 * @param p between 0 and 1
 * @returns null without values
 */
export function percentileOf(sorted: ArrayLike<number>, p: number): number | null {
  if (sorted.length === 0) return null
  const at = (sorted.length - 1) * p
  const below = Math.floor(at)
  const low = sorted[below]!
  const high = sorted[Math.min(below + 1, sorted.length - 1)]!
  return low + (high - low) * (at - below)
}
