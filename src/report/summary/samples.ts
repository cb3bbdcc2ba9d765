/**
 * How many samples a percentile needs before it may be believed: the smallest n for which at most
 * one sample beyond the true percentile is a matter of 99 % confidence (the early-stopping rule
 * of MLPerf LoadGen): `p^n + n p^(n-1) (1 - p) <= 0.01`. 64 for p90, 662 for p99, 6,636 for p99.9.
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

/**
 * Percentile of sorted values by linear interpolation, as DuckDB's `quantile_cont` and
 * numpy's default have it.
 *
 * @returns null of no values
 */
export function percentileOf(sorted: ArrayLike<number>, p: number): number | null {
  if (sorted.length === 0) return null
  const at = (sorted.length - 1) * p
  const below = Math.floor(at)
  const low = sorted[below]!
  const high = sorted[Math.min(below + 1, sorted.length - 1)]!
  return low + (high - low) * (at - below)
}
