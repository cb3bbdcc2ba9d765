import {
  type DifferenceInterval,
  pointsInterval,
  ratioInterval,
} from '../../measure/interval/difference.ts'
import type { Interval } from '../../measure/interval/interval.ts'
import { fewestOfMean, neededToTell } from '../../measure/interval/length.ts'
import { fewestWorth } from '../../measure/interval/series.ts'
import { fewestSeconds, rateInterval, shareInterval } from '../../measure/interval/share.ts'
import { samplesNeeded } from '../../measure/percentile.ts'
import { reportsAllTokens } from '../summary/figures.ts'
import type { SummaryGroup } from '../summary/group-shape.ts'
import { intervalOfPairs, type PairedGroup, sidesOfPairs } from './pairs.ts'
import { type Figure, type FigureOfRun, figureOf, type Mark, type Statistic } from './run-figure.ts'
import { type Samples, sampledMetrics } from './samples.ts'

/** A figure of both runs, and its change. */
export interface Difference extends FigureOfRun {
  readonly unit: 'us' | 'per s' | 'share' | 'credits'
  readonly a: number | null
  readonly b: number | null
  /** Reliability of `a` and `b`, as in the summary of each run. */
  readonly marks: readonly [Mark, Mark]
  readonly na: number
  readonly nb: number
  /** Whether the interval is of pairs: each request went to both, so that what both share cancels out. */
  readonly isPaired: boolean
  /** How many runs of each side the interval is between; null if it is of one run of each. */
  readonly repeats: readonly [number, number] | null
  /** How many independent requests (seconds, for a rate) each run is worth; null if it is no sample, or of pairs or repeats. */
  readonly worth: readonly [number, number] | null
  /** b / a - 1; for shares b - a, in points. Null if either figure is missing. */
  readonly change: number | null
  /** 95 % interval of the change; null for no bound on a side, or with too few samples. */
  readonly interval: readonly [low: number | null, high: number | null] | null
  /** Its intervals before and after the ratio of pairs changed; null if it has one level, or they are no pairs. */
  readonly sides: readonly Difference['interval'][] | null
  /** About how many requests of each run would tell whether they differ; null if they do, or if none would. */
  readonly needs: number | null
  /** The direction of a significant change. `unclear` if the interval includes 0, or there is none. */
  readonly verdict: 'better' | 'worse' | 'unclear'
}

const statistics = [
  ['p50', 0.5],
  ['p90', 0.9],
  ['p95', 0.95],
  ['p99', 0.99],
] as const

/** One side of a group: its figures, and their samples for the intervals. */
export interface Half extends Samples {
  readonly group: SummaryGroup
}

/** Every difference of a group that is a sample of the service. */
export function groupDifferences(
  step: string | null,
  a: Half,
  b: Half,
  pairs: PairedGroup | null = null,
): readonly Difference[] {
  const both = (metric: Difference['metric'], statistic: Statistic) =>
    [figureOf(a.group, metric, statistic), figureOf(b.group, metric, statistic)] as const
  const differences: Difference[] = []
  for (const metric of sampledMetrics) {
    const [left, right] = [a.metrics[metric], b.metrics[metric]]
    if (left === null && right === null) continue
    const [na, nb] = [left?.n ?? 0, right?.n ?? 0]
    const head = { step, metric, unit: 'us', na, nb } as const
    const of = (fewest: number, interval: (half: NonNullable<typeof left>) => Interval) =>
      left === null || right === null || Math.min(na, nb) < fewest
        ? null
        : ([interval(left), interval(right)] as const)
    const ofPairs = (fewest: number, p: number | null): OfPairs | null => {
      const whole = pairs === null ? null : intervalOfPairs(pairs.times[metric], fewest, p)
      return whole === null ? null : { whole, sides: sidesOfPairs(pairs!, metric, fewest, p) }
    }
    for (const [statistic, p] of statistics) {
      differences.push(
        relative(
          { ...head, statistic },
          both(metric, statistic),
          of(samplesNeeded(p), (series) => series.percentile(p)),
          ofPairs(samplesNeeded(p), p),
        ),
      )
    }
    differences.push(
      relative(
        { ...head, statistic: 'mean' },
        both(metric, 'mean'),
        of(fewestOfMean, (series) => series.mean()),
        ofPairs(fewestOfMean, null),
      ),
    )
  }
  for (const [metric, of, figure] of [
    ['throughput', 'okBySecond', 'okPerS'],
    ['tokens', 'tokensBySecond', 'completionTokensPerS'],
  ] as const) {
    const [left, right] = [a[of], b[of]]
    if (a.group[figure] === null && b.group[figure] === null) continue
    // What not every answer reports has no interval: a run that reports less is no slower.
    const isPart = (group: SummaryGroup) => metric === 'tokens' && !reportsAllTokens(group)
    const isWhole = left.length > 0 && right.length > 0 && !isPart(a.group) && !isPart(b.group)
    differences.push(
      relative(
        { step, metric, statistic: 'rate', unit: 'per s', na: left.length, nb: right.length },
        both(metric, 'rate'),
        isWhole ? [rateInterval(left), rateInterval(right)] : null,
      ),
    )
  }
  differences.push(errorDifference(step, a, b))
  return differences
}

/** A share of fewer requests has no interval. */
const fewestOfShare = 30

function errorDifference(step: string | null, a: Half, b: Half): Difference {
  const [left, right] = [a.failed, b.failed]
  const head = { step, metric: 'errors', statistic: 'share', unit: 'share' } as const
  const figures = [
    figureOf(a.group, 'errors', 'share'),
    figureOf(b.group, 'errors', 'share'),
  ] as const
  const [shareA, shareB] = [figures[0].value, figures[1].value]
  const isKnown = Math.min(left.length, right.length) >= fewestOfShare
  const intervals = isKnown ? ([shareInterval(left), shareInterval(right)] as const) : null
  return told(
    { ...head, na: left.length, nb: right.length },
    figures,
    shareA === null || shareB === null ? null : shareB - shareA,
    intervals === null ? null : pointsInterval(...intervals),
    intervals,
  )
}

type Head = Pick<Difference, 'step' | 'metric' | 'statistic' | 'unit' | 'na' | 'nb'>

type Both = readonly [Interval, Interval]

interface OfPairs {
  readonly whole: DifferenceInterval
  readonly sides: readonly (DifferenceInterval | null)[] | null
}

const boundsOf = (interval: DifferenceInterval | null) =>
  interval === null ? null : ([interval.low, interval.high] as const)

function relative(
  head: Head,
  figures: readonly [Figure, Figure],
  intervals: Both | null,
  ofPairs: OfPairs | null = null,
): Difference {
  if (ofPairs !== null) {
    const { whole, sides } = ofPairs
    return {
      ...told(head, figures, whole.change, whole, 'pairs'),
      sides: sides?.map(boundsOf) ?? null,
    }
  }
  const [a, b] = [figures[0].value, figures[1].value]
  const change = a === null || b === null || a === 0 ? null : b / a - 1
  const apart = change === null || intervals === null ? null : ratioInterval(...intervals)
  return told(head, figures, change, apart, intervals)
}

function told(
  head: Head,
  [a, b]: readonly [Figure, Figure],
  change: number | null,
  apart: { readonly low: number | null; readonly high: number | null } | null,
  evidence: Both | 'pairs' | null,
): Difference {
  const isPaired = evidence === 'pairs'
  const intervals = isPaired ? null : evidence
  // An interval without any bound says nothing.
  const isBounded = apart !== null && (apart.low !== null || apart.high !== null)
  const interval = isBounded ? ([apart.low, apart.high] as const) : null
  const verdict = verdictOf(interval, head.metric)
  return {
    ...head,
    a: a.value,
    b: b.value,
    marks: [a.mark, b.mark],
    change,
    interval,
    verdict,
    isPaired,
    sides: null,
    repeats: null,
    worth: intervals === null ? null : [intervals[0].worth, intervals[1].worth],
    needs:
      verdict !== 'unclear' || change === null || evidence === null
        ? null
        : neededToTell(
            Math.max(head.na, head.nb),
            change,
            interval,
            intervals === null ? null : fewestOf(head, intervals),
          ),
  }
}

/** Times that the runs must be longer for any bound, if their requests are worth too few. */
function fewestOf({ unit }: Head, [a, b]: Both): number | null {
  if (unit === 'share') return null
  return (unit === 'us' ? fewestWorth : fewestSeconds) / Math.min(a.worth, b.worth)
}

/** Whether more of it is better. */
export const isGain = (metric: Difference['metric']) =>
  metric === 'throughput' || metric === 'tokens'

/** Missing bounds are endless. */
export function verdictOf(
  interval: Difference['interval'],
  metric: Difference['metric'],
): Difference['verdict'] {
  const [low, high] = [interval?.[0] ?? -Infinity, interval?.[1] ?? Infinity]
  if (low <= 0 && high >= 0) return 'unclear'
  return low > 0 === isGain(metric) ? 'better' : 'worse'
}
