import { samplesNeeded } from '../../../measure/percentile.ts'
import type { Scenario } from '../../../scenario/scenario.ts'
import type { Threshold } from '../../../scenario/threshold.ts'
import type { StepCounters } from '../../count/attempt-counts.ts'
import type { Counted } from '../../count/tally.ts'
import type { TimeHistogram } from '../../count/time-histogram.ts'
import { countedMetrics, type Metric, type PhaseRun } from '../../crew/messages.ts'
import { judgeFigure, type ThresholdResult, unitOf } from './check.ts'
import { compare } from './compare.ts'
import { exactly, type Figure } from './figure.ts'

/** Samples that an early judgement needs. */
const enough = 100

/** A threshold as the counters of a run show it before the end. Only the end, by rows, decides. */
export interface ThresholdSoFar {
  readonly text: string
  /** `open` while samples are too few, or if only the rows or the end can tell. */
  readonly state: 'holds' | 'missed' | 'open'
  /** In the unit of the bound; null if the counters do not show it. */
  readonly value: number | null
  readonly unit: ThresholdResult['unit']
  readonly samples: number
}

export function thresholdsSoFar(scenario: Scenario, counted: Counted): readonly ThresholdSoFar[] {
  return scenario.thresholds.map((threshold) => {
    const figure = figureSoFar(scenario, counted, threshold)
    const { text } = threshold
    const told = { text, value: figure?.value ?? null, unit: unitOf(threshold) }
    return { ...told, state: stateOf(threshold, figure), samples: figure?.samples ?? 0 }
  })
}

function stateOf(threshold: Threshold, figure: Figure | null): ThresholdSoFar['state'] {
  if (figure === null || figure.value === null) return 'open'
  if (isMissed(threshold, figure)) return 'missed'
  const { statistic, operator, bound } = threshold
  const needed = statistic.kind === 'percentile' ? samplesNeeded(statistic.p / 100) : enough
  return figure.samples >= needed && compare(figure.value, operator, bound) ? 'holds' : 'open'
}

/**
 * The thresholds marked `abort` that are missed so far, judged by counters during a run. Those that need
 * rows (TPOT, lag, filters by account) wait for the end.
 */
export function missedEarly(scenario: Scenario, counted: Counted): readonly Threshold[] {
  return scenario.thresholds.filter((threshold) => {
    const figure = threshold.abort ? figureSoFar(scenario, counted, threshold) : null
    return figure !== null && isMissed(threshold, figure)
  })
}

const isMissed = (threshold: Threshold, figure: Figure) =>
  figure.samples >= enough && !onlyGrows(threshold) && judgeFigure(threshold, figure) === 'missed'

/** Whether only the end can decide, because a count that is too small may still grow. */
const onlyGrows = ({ statistic, operator }: Threshold): boolean =>
  statistic.kind === 'count' && (operator === '>' || operator === '>=' || operator === '==')

/** Null without samples, or if the counters do not show it. */
function figureSoFar(scenario: Scenario, counted: Counted, threshold: Threshold): Figure | null {
  const wants = (phase: PhaseRun, step: number) =>
    (threshold.phase === null ? phase.part === 'steady' : phase.name === threshold.phase) &&
    (threshold.step === null || scenario.steps[step]!.name === threshold.step)
  const { metric, statistic, filter, ownLimit } = threshold
  if (ownLimit !== null) return null
  if ((countedMetrics as readonly string[]).includes(metric)) {
    if (Object.keys(filter).length > 0) return null
    const histogram = counted.histogram(metric as Metric, wants)
    return histogram.samples === 0 ? null : timeSoFar(histogram, statistic)
  }
  if (statistic.kind === 'rate') return null
  const counters = counted.countersWhere(wants)
  const sum = (pick: (each: StepCounters) => number) =>
    counters.reduce((total, each) => total + pick(each), 0)
  const one = countedSoFar(threshold, sum)
  if (one === null) return null
  const all = sum((each) => each[shareOf[metric] ?? 'sent'])
  if (all === 0) return null
  const value = statistic.kind === 'share' ? one / all : one
  const open = metric === 'goodput' ? sum((each) => each.maybeGood) : 0
  const high = open > 0 ? Infinity : value
  return { ...exactly(value, all), high }
}

/** A timeout counts as at least its duration, so the true value has no upper bound. */
function timeSoFar(histogram: TimeHistogram, statistic: Threshold['statistic']): Figure {
  const value = histogram.statistic(statistic)
  const { samples } = histogram
  const low =
    statistic.kind === 'percentile'
      ? histogram.atRank(lowRank(statistic.p / 100, samples / effectSoFar))
      : value
  return { ...exactly(value, samples), low: low ?? -Infinity, high: Infinity }
}

/**
 * Counters do not know the order of requests, which shows how far they depend on each other. So that many count as one:
 * a busy queue has 4 to 6, one that is nearly full has more than 100.
 */
const effectSoFar = 10

/** Rank below which the true percentile hardly lies. @param worth independent samples */
const lowRank = (p: number, worth: number): number =>
  Math.floor(worth * effectSoFar * (p - 2 * Math.sqrt((p * (1 - p)) / worth)))

/** The denominator of each share, as in `requests.ts`. */
const shareOf: Readonly<Partial<Record<Threshold['metric'], 'judged' | 'planned' | 'examined'>>> = {
  goodput: 'judged',
  correct: 'examined',
  success: 'judged',
  not_sent: 'planned',
}

type Sum = (pick: (each: StepCounters) => number) => number

function countedSoFar({ metric, filter }: Threshold, sum: Sum): number | null {
  const filters = Object.entries(filter)
  if (metric === 'errors' && filters.length === 1) {
    const [key, wanted] = filters[0]!
    if (key !== 'code' && key !== 'status' && key !== 'reason') return null
    // Errors are counted by words such as `429 rate_limit_exceeded` or `connect-refused`.
    return sum((each) =>
      [...each.errors].reduce(
        (total, [words, count]) => total + (words.split(' ').includes(wanted) ? count : 0),
        0,
      ),
    )
  }
  if (filters.length > 0) return null
  switch (metric) {
    case 'errors':
      return sum((each) => each.failures)
    case 'success':
      return sum((each) => each.succeeded)
    case 'goodput':
      return sum((each) => each.good)
    case 'correct':
      return sum((each) => each.correct)
    case 'not_sent':
      return sum((each) => each.notSent)
    case 'requests':
      return sum((each) => each.sent)
    case 'tokens':
      return sum((each) => each.tokens)
    case 'credits':
      return sum((each) => each.credits)
    default:
      return null
  }
}
