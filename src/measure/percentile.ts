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

/** Probability, on each side, that the true percentile lies outside the interval of `intervalRanks`. */
const tail = 0.025

/**
 * Ranks (from 1) of the order statistics between which the true percentile lies with 95 % confidence,
 * for any distribution: the number of samples below it is binomial. 0 or n + 1 if the samples do not
 * bound it on that side.
 *
 * @param p between 0 and 1, both excluded
 */
export function intervalRanks(p: number, n: number): readonly [low: number, high: number] {
  // Weights of the binomial distribution relative to its mode; those below 1e-18 are left out.
  const mode = Math.min(n, Math.floor((n + 1) * p))
  const odds = p / (1 - p)
  const weights = new Map([[mode, 1]])
  let total = 1
  const add = (k: number, weight: number) => {
    weights.set(k, weight)
    total += weight
  }
  let [first, last] = [mode, mode]
  for (let weight = 1; first > 0 && weight > 1e-18; first--) {
    weight *= first / ((n - first + 1) * odds)
    add(first - 1, weight)
  }
  for (let weight = 1; last < n && weight > 1e-18; last++) {
    weight *= ((n - last) * odds) / (last + 1)
    add(last + 1, weight)
  }
  // Rank k is above the percentile if fewer than k samples lie below it.
  let low = first
  for (let below = weights.get(first)!; below <= tail * total; low++) below += weights.get(low + 1)!
  let high = last + 1
  for (let above = weights.get(last)!; above <= tail * total; high--) {
    above += weights.get(high - 2)!
  }
  return [low, high]
}
