import { largest, smallest } from '../../user/extremes.ts'
import { percentileOf } from '../percentile.ts'
import { incompleteBeta } from './distributions.ts'
import { cosinePowers } from './long-run.ts'
import { Series } from './series.ts'

/** Fewest values that show whether a series has one level. */
const fewest = 300
/** A change with a smaller chance is one, even between sides that are too short to tell of themselves. */
const clearChance = 1e-6
const trendBlocks = 256
const stepBlocks = 128

/** A series that has more than one level. */
export interface Change {
  /** Place of the first value after the change. */
  readonly at: number
  /** Median after it, divided by the median before it. */
  readonly ratio: number
}

/**
 * Whether a series has one level: the chance that one of a single level looks less steady, by a trend or by a step;
 * null if it is too short to tell, or not above 0. A change is told of only if the chance is at most 1 %.
 */
export interface Level {
  readonly chance: number | null
  readonly change: Change | null
}

/**
 * Two tests on the logarithms of block means: of a trend, the first cosine against eight others; of a step, Shao and
 * Zhang (2010), which needs neither a variance nor a window.
 *
 * @param values in the order of planned sends
 */
export function levelOf(values: Float64Array): Level {
  const none = { chance: null, change: null }
  if (values.length < fewest) return none
  const ofTrend = blockLogs(values, trendBlocks)
  const ofStep = blockLogs(values, stepBlocks)
  if (ofTrend === null || ofStep === null) return none
  // Of values that are all alike, the tests would judge the rounding of their sums.
  if (largest(ofTrend) - smallest(ofTrend) < 1e-9) return { chance: 1, change: null }
  const step = largestStep(ofStep)
  const at = Math.floor((step.after * values.length) / ofStep.length)
  // The larger of two tests has two chances.
  const chance = Math.min(1, 2 * Math.min(trendChance(ofTrend), stepChance(step.size)))
  if (chance > 0.01) return { chance, change: null }
  // A queue that is busy for long stretches looks like a change, and each side of it again; hardly ever like a clear one.
  const sides = [values.slice(0, at), values.slice(at)]
  if (chance > clearChance && sides.every((side) => new Series(side).isShort)) return none
  return { chance, change: { at, ratio: medianOf(values, at) / medianOf(values, 0, at) } }
}

/** Logarithms of the means of neighbouring values; null if one is not above 0. */
function blockLogs(values: Float64Array, most: number): Float64Array | null {
  const count = Math.min(values.length, most)
  const logs = Float64Array.from({ length: count }, (_, block) => {
    const begin = Math.floor((block * values.length) / count)
    const end = Math.floor(((block + 1) * values.length) / count)
    let sum = 0
    for (let at = begin; at < end; at++) sum += values[at]!
    return Math.log(sum / (end - begin))
  })
  return logs.every(Number.isFinite) ? logs : null
}

/** The chance of so large a first cosine: R is distributed as F(1, 8). */
function trendChance(logs: Float64Array): number {
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length
  const powers = cosinePowers(
    logs.map((log) => log - mean),
    logs.length,
  )
  const others = powers.slice(1, 9).reduce((sum, power) => sum + power, 0) / 8
  if (others === 0) return 1
  return incompleteBeta(8 / (8 + powers[0]! / others), 4, 0.5)
}

/** Self-normalised steps that are exceeded with these chances, by simulation (decision 0812). */
const stepLimits = [
  { root: 0, log: 0 },
  { root: Math.sqrt(41.5), log: Math.log(0.05) },
  { root: Math.sqrt(73), log: Math.log(0.01) },
  { root: Math.sqrt(126), log: Math.log(0.001) },
] as const

/** By the logarithm of the chance, which falls nearly as a line with the root of the size. */
function stepChance(size: number): number {
  const root = Math.sqrt(size)
  const above = stepLimits.slice(1).findIndex((limit) => root <= limit.root)
  const right = above === -1 ? stepLimits.length - 1 : above + 1
  const [from, to] = [stepLimits[right - 1]!, stepLimits[right]!]
  return Math.exp(from.log + ((to.log - from.log) * (root - from.root)) / (to.root - from.root))
}

/** The largest self-normalised step, and how many blocks lie before it. */
function largestStep(logs: Float64Array): { readonly size: number; readonly after: number } {
  const n = logs.length
  const sums = new Float64Array(n + 1)
  for (let at = 0; at < n; at++) sums[at + 1] = sums[at]! + logs[at]!
  const edge = Math.max(2, Math.floor(n / 20))
  let best = { size: 0, after: Math.floor(n / 2) }
  for (let k = edge; k < n - edge; k++) {
    const apart = (sums[k]! - (k / n) * sums[n]!) ** 2 / n
    let own = 0
    for (let j = 1; j <= k; j++) own += (sums[j]! - (j / k) * sums[k]!) ** 2
    for (let j = k + 1; j <= n; j++) {
      const rest = ((n - j + 1) / (n - k)) * (sums[n]! - sums[k]!)
      own += (sums[n]! - sums[j - 1]! - rest) ** 2
    }
    const size = own === 0 ? 0 : (apart * n * n) / own
    if (size > best.size) best = { size, after: k }
  }
  return best
}

const medianOf = (values: Float64Array, from: number, until?: number) =>
  percentileOf(values.slice(from, until).sort(), 0.5) ?? Number.NaN
