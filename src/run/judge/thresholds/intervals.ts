import type { Interval } from '../../../measure/interval/interval.ts'
import {
  farFactor,
  neededFor,
  neededForLinear,
  neededForMean,
  neededForPercentile,
  neededOfNone,
} from '../../../measure/interval/length.ts'
import type { Series } from '../../../measure/interval/series.ts'
import { rateInterval, shareInterval } from '../../../measure/interval/share.ts'
import { samplesNeeded } from '../../../measure/percentile.ts'
import type { Threshold } from '../../../scenario/threshold.ts'
import type { ItlFigures } from '../../../store/read/itl.ts'
import { isCeiling } from './compare.ts'
import { exactly, type Figure, none } from './figure.ts'

/** Of a limit of a mean that is far, as many requests are enough as of a p50. */
const farOfMean = 0.5

/** The least and the largest value; endless if one was cut off. */
interface Ends {
  readonly least: number
  readonly largest: number
}

/** What so many values show of which none came near the bound. @param p share of values below the true figure */
function farOf({ operator, bound }: Threshold, p: number, n: number, { least, largest }: Ends) {
  const isCeiled = isCeiling(operator)
  const isFloored = operator === '>' || operator === '>='
  if (largest * farFactor <= bound && n >= neededOfNone(1 - p))
    return { far: isCeiled ? 'held' : 'missed' } as const
  if (least / farFactor >= bound && n >= neededOfNone(p))
    return { far: isFloored ? 'held' : 'missed' } as const
  return { far: null }
}

/** The figure of a time over requests in the order of their planned sends. */
export function timeOf(series: Series, threshold: Threshold): Figure {
  const { statistic, bound } = threshold
  const { n, least, largest } = series
  switch (statistic.kind) {
    case 'percentile': {
      const p = statistic.p / 100
      const needs = neededForPercentile(series, p, bound)
      return {
        ...bounded(series.percentile(p), n),
        worth: series.worth,
        ...farOf(threshold, p, n, series),
        needs: needs === null ? null : Math.max(needs, samplesNeeded(p)),
      }
    }
    case 'mean':
      return {
        ...bounded(series.mean(), n),
        worth: series.worth,
        ...farOf(threshold, farOfMean, n, series),
        needs: neededForMean(series, bound),
      }
    case 'min':
      return exactly(least, n)
    default:
      return { ...exactly(series.known, n), high: largest }
  }
}

/**
 * The figure of the times between tokens (ITL).
 *
 * @param streams their means in each stream; null if no stream has one
 */
export function itlOf(itl: ItlFigures, streams: Series | null, threshold: Threshold): Figure {
  const { statistic, bound } = threshold
  if (streams === null) {
    const value = statistic.kind === 'percentile' ? itl.atShare(statistic.p / 100) : itl.mean
    return { ...none, value, samples: itl.n }
  }
  const { worth, isShort } = streams
  if (statistic.kind !== 'percentile') {
    const { value, low, high } = streams.mean()
    const scaled = (end: number | null) => (end === null ? null : (itl.mean * end) / value)
    return {
      ...bounded({ value: itl.mean, low: scaled(low), high: scaled(high), worth, t: 0 }, itl.n),
    }
  }
  const p = statistic.p / 100
  const { t } = streams.mean()
  const half = t * Math.sqrt((p * (1 - p)) / worth)
  const distance = (itl.within(bound) - p) / Math.sqrt((p * (1 - p)) / worth)
  return {
    ...none,
    value: itl.atShare(p),
    low: p - half <= 0 ? -Infinity : itl.atShare(p - half),
    high: isShort || p + half > 1 ? Infinity : itl.atShare(p + half),
    samples: itl.n,
    worth,
    ...farOf(threshold, p, streams.n, { least: itl.min, largest: itl.max }),
    needs: Math.max(neededFor(itl.n, t, distance, streams.lacking), samplesNeeded(p)),
  }
}

/**
 * The figure of a share. A bound at an end of all shares, such as `errors <= 0%`, is about the requests of this run,
 * because no number of them shows that none will ever fail; so is an equality.
 *
 * @param counts 1 for each request that counts, else 0, in the order of planned sends
 */
export function shareOf(counts: Uint8Array, { bound, operator }: Threshold): Figure {
  const n = counts.length
  if (n === 0) return none
  const interval = shareInterval(counts)
  const { value } = interval
  if (operator === '==' || bound <= 0 || bound >= 1) return exactly(value, n)
  const beyond = isCeiling(operator) ? bound : 1 - bound
  const clean = isCeiling(operator) ? 0 : 1
  const needs =
    value === clean
      ? neededOfNone(beyond)
      : neededForLinear(n, interval, bound, value * (1 - value))
  return {
    ...bounded(interval, n),
    far: value === clean && n >= neededOfNone(beyond) ? 'held' : null,
    needs,
  }
}

/**
 * The figure of a rate of completions.
 *
 * @param value over the whole steady part
 * @param counts of each whole second of it, in order
 */
export function rateOf(
  value: number | null,
  samples: number,
  counts: Float64Array,
  { bound, operator }: Threshold,
): Figure {
  if (value === null) return { ...none, samples }
  if (operator === '==' || bound <= 0) return exactly(value, samples)
  if (counts.length === 0) return { ...none, value, samples }
  const interval = rateInterval(counts)
  // The steady part is a little longer than its whole seconds.
  const more = value - interval.value
  return {
    ...bounded(interval, samples),
    value,
    low: interval.low === null ? -Infinity : Math.max(0, interval.low + more),
    high: interval.high === null ? Infinity : interval.high + more,
  }
}

const bounded = ({ value, low, high, worth }: Interval, samples: number): Figure => ({
  ...none,
  value,
  low: low ?? -Infinity,
  high: high ?? Infinity,
  samples,
  worth,
})
