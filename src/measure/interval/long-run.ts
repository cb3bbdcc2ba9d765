/**
 * The variance of a mean of values that are not independent, by equal-weighted cosines (Müller 2014; Lazarus, Lewis,
 * Stock, Watson 2018). Neighbouring requests share queues and pauses: what they have in common lifts the cosines of
 * long waves above those of short ones.
 */

/** Most blocks of a series, and cosines of its blocks. */
const mostBlocks = 1024
const cosineCount = 64

/**
 * Numbers of cosines, the largest first, with the 97.5 % quantile of Student's t of as many degrees of freedom, and the
 * 90 % quantile of F of half as many and half as many. Four cosines are not tested.
 */
const ladder = [
  { cosines: 64, t: 1.997729654317693, f: 1.581890229219032 },
  { cosines: 32, t: 2.0369333434601016, f: 1.928078977710679 },
  { cosines: 16, t: 2.1199052992212546, f: 2.5893490557256373 },
  { cosines: 8, t: 2.306004135204166, f: 4.107249542250522 },
  { cosines: 4, t: 2.7764451051977934, f: 9.000000000000002 },
] as const

export interface LongRun {
  /** n times the variance of the mean; of independent values, the variance of one. */
  readonly variance: number
  /** How many cosines agree, which are the degrees of freedom of `variance`. */
  readonly cosines: number
  /** Student's t with them, 97.5 %. */
  readonly t: number
}

/**
 * @param valueAt value at each place from 0 to n - 1, in the order of planned sends
 * @param fewest cosines to use at least, if the series is long enough
 */
export function longRunOf(n: number, valueAt: (at: number) => number, fewest = 4): LongRun {
  const y = cosinePowers(blockSums(n, valueAt, mostBlocks), n)
  const meanOf = (from: number, until: number) => {
    let sum = 0
    for (let at = from; at < until; at++) sum += y[at]!
    return sum / (until - from)
  }
  const step = ladder.find(
    ({ cosines, f }) =>
      cosines <= Math.max(4, n / 4) &&
      (cosines <= fewest || meanOf(0, cosines / 2) <= f * meanOf(cosines / 2, cosines)),
  )!
  return {
    variance: Math.max(meanOf(0, step.cosines), meanOf(0, 8)),
    cosines: step.cosines,
    t: step.t,
  }
}

/** The sums of a series minus its mean, of neighbouring values in blocks of as equal lengths as can be. */
function blockSums(n: number, valueAt: (at: number) => number, most: number): Float64Array {
  const blocks = Math.min(n, most)
  const sums = new Float64Array(blocks)
  let total = 0
  for (let block = 0; block < blocks; block++) {
    const end = Math.floor(((block + 1) * n) / blocks)
    let sum = 0
    for (let at = Math.floor((block * n) / blocks); at < end; at++) sum += valueAt(at)
    sums[block] = sum
    total += sum
  }
  const mean = total / n
  for (let block = 0; block < blocks; block++) {
    const length = Math.floor(((block + 1) * n) / blocks) - Math.floor((block * n) / blocks)
    sums[block] = sums[block]! - length * mean
  }
  return sums
}

/** `(2 / n) (Σ s_i cos(π j (i + 0.5) / m))²` for j from 1 to 64, of m block sums of n values. */
export function cosinePowers(sums: Float64Array, n: number): Float64Array {
  const blocks = sums.length
  const cosines = cosinesOf(blocks)
  const turn = cosines.length
  return Float64Array.from({ length: cosineCount }, (_, nth) => {
    const wave = nth + 1
    let at = wave % turn
    const step = (2 * wave) % turn
    let sum = 0
    for (let block = 0; block < blocks; block++) {
      sum += sums[block]! * cosines[at]!
      at += step
      if (at >= turn) at -= turn
    }
    return (2 / n) * sum * sum
  })
}

let table = new Float64Array(0)

/** cos(π k / 2 m) for k from 0 to 4 m - 1: every cosine of m blocks is one of these. */
function cosinesOf(blocks: number): Float64Array {
  if (table.length !== 4 * blocks) {
    table = Float64Array.from({ length: 4 * blocks }, (_, k) =>
      Math.cos((Math.PI * k) / (2 * blocks)),
    )
  }
  return table
}
