import { percentileOf } from '../percentile.ts'
import { averageOf } from './average.ts'
import { longRunOf } from './long-run.ts'
import { Series } from './series.ts'

/** Fewest values that show whether a series begins cold, and where to cut it. */
export const fewestOfStart = 300
/** MSER-5 cuts between means of five neighbouring values. */
const group = 5
/** Fewest groups that a cut leaves. */
const fewestLeft = 10

/** Standard errors by which a start must be slower than the rest, and so must its first third. */
const needed = { whole: 4, firstThird: 2 }
/** The rest of a short series may lack its busiest time, so the start must differ more clearly (decision 0817). */
const neededOfShort = { whole: 8, firstThird: 4 }

/** The start of a series that is unlike the rest. */
export interface Start {
  /** How many values are of it. */
  readonly count: number
  /** Its median, divided by the median of the rest. */
  readonly ratio: number
}

/**
 * Whether a series begins cold: the start that MSER-5 would cut off in the first half is slower than the
 * rest, and so is the beginning of it. A pause or a busy stretch, which may come at any time, seldom begins with the series.
 *
 * @param values above 0, in the order of planned sends
 */
export function coldStartOf(values: Float64Array): Start | null {
  if (values.length < fewestOfStart || values.some((value) => value <= 0)) return null
  const count = bestCut(values, values.length / 2)
  if (count === 0) return null
  // Logarithms, because one very long time is no cold start.
  const logs = values.map(Math.log)
  const rest = logs.subarray(count)
  const { mean } = averageOf(rest)
  const { variance } = longRunOf(rest.length, (at) => rest[at]!)
  if (variance === 0) return null
  const standardErrorsSlower = (n: number) =>
    (averageOf(logs.subarray(0, n)).mean - mean) / Math.sqrt(variance * (1 / n + 1 / rest.length))
  const whole = standardErrorsSlower(count)
  const firstThird = standardErrorsSlower(Math.ceil(count / 3))
  const isBeyond = (least: typeof needed) => whole >= least.whole && firstThird >= least.firstThird
  // `isShort` sorts the rest, so it is asked last.
  const isCold =
    isBeyond(neededOfShort) || (isBeyond(needed) && !new Series(values.slice(count)).isShort)
  return isCold ? startOf(values, count) : null
}

/**
 * How many leading values to cut off: MSER-5 (White 1997; White, Cobb and Spratt 2000), the cut that leaves the least variance of the mean; null if it
 * lies in the last half, so that the series is not steady.
 */
export function warmUpCut(values: Float64Array): number | null {
  const cut = bestCut(values, values.length)
  return cut > values.length / 2 ? null : cut
}

/** The cut of MSER-5 among those of at most `most` values. */
function bestCut(values: Float64Array, most: number): number {
  const groups = Math.floor(values.length / group)
  let best = { variance: Infinity, at: 0 }
  let [sum, squares] = [0, 0]
  for (let at = groups - 1; at >= 0; at--) {
    let mean = 0
    for (let nth = 0; nth < group; nth++) mean += values[at * group + nth]! / group
    sum += mean
    squares += mean * mean
    const left = groups - at
    if (left < fewestLeft || at * group > most) continue
    const variance = (squares - (sum * sum) / left) / left / left
    if (variance <= best.variance) best = { variance, at }
  }
  return best.at * group
}

/** The first `count` values, against the others. */
export const startOf = (values: Float64Array, count: number): Start => ({
  count,
  ratio: medianOf(values.slice(0, count)) / medianOf(values.slice(count)),
})

/** Sorts the values. */
const medianOf = (values: Float64Array) => percentileOf(values.sort(), 0.5)!
