import type { Random } from '../random.ts'

/**
 * A quantile of a bootstrap resample, without resampling.
 *
 * The k-th smallest of n values, drawn with replacement from n sorted values, has rank ceil(n U). U is the k-th
 * smallest of n uniforms, which is Beta(k, n + 1 - k). The next one has U + (1 - U) Beta(1, n - k). So a draw costs
 * two gammas for any n: comparing a million rows is as fast as a hundred.
 *
 * @param sorted ascending, not empty
 * @param p between 0 and 1; interpolated between the two neighbours, as everywhere
 */
export function resampledQuantile(sorted: ArrayLike<number>, p: number, random: Random): number {
  const n = sorted.length
  const at = (n - 1) * p
  const k = Math.floor(at) + 1
  const lower = beta(k, n + 1 - k, random)
  const low = pick(sorted, lower)
  const share = at - Math.floor(at)
  if (share === 0 || k === n) return low
  const upper = lower + (1 - lower) * beta(1, n - k, random)
  return low + (pick(sorted, upper) - low) * share
}

/** Above this many values, the mean of a resample is drawn from its normal limit. */
const mostResampled = 2_000

/** Mean of a bootstrap resample. */
export function resampledMean(sorted: ArrayLike<number>, random: Random): number {
  const n = sorted.length
  if (n <= mostResampled) {
    let sum = 0
    for (let draw = 0; draw < n; draw++) sum += sorted[Math.floor(random() * n)]!
    return sum / n
  }
  const { mean, deviation } = momentsOf(sorted)
  return mean + (deviation / Math.sqrt(n)) * normal(random)
}

/** Share of successes among n in a resample. */
export function resampledShare(successes: number, n: number, random: Random): number {
  if (n === 0) return Number.NaN
  // Beta(k, n - k) is the limit of the resampled share, and stays between 0 and 1.
  if (successes === 0 || successes === n) return successes / n
  return beta(successes, n - successes, random)
}

function pick(sorted: ArrayLike<number>, uniform: number): number {
  const n = sorted.length
  return sorted[Math.min(n - 1, Math.max(0, Math.ceil(uniform * n) - 1))]!
}

const moments = new WeakMap<object, { readonly mean: number; readonly deviation: number }>()

function momentsOf(values: ArrayLike<number>) {
  const known = moments.get(values)
  if (known !== undefined) return known
  let mean = 0
  let squares = 0
  for (let at = 0; at < values.length; at++) {
    const step = values[at]! - mean
    mean += step / (at + 1)
    squares += step * (values[at]! - mean)
  }
  const found = { mean, deviation: Math.sqrt(squares / Math.max(1, values.length - 1)) }
  moments.set(values, found)
  return found
}

function beta(a: number, b: number, random: Random): number {
  const x = gamma(a, random)
  return x / (x + gamma(b, random))
}

/** Marsaglia and Tsang's method. It needs shapes of at least 1, which all shapes here are. */
function gamma(shape: number, random: Random): number {
  const d = shape - 1 / 3
  const c = 1 / Math.sqrt(9 * d)
  for (;;) {
    const x = normal(random)
    const v = (1 + c * x) ** 3
    if (v <= 0) continue
    const u = random()
    if (u === 0) continue
    if (Math.log(u) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v
  }
}

function normal(random: Random): number {
  let u = random()
  while (u === 0) u = random()
  return Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * random())
}
