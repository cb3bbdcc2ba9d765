import { intervalRanks } from '../measure/percentile.ts'
import type { Scenario, Threshold } from '../scenario/scenario.ts'
import type { StepCounters } from './attempt-counts.ts'
import { countedMetrics, type Metric, type PhaseRun } from './messages.ts'
import type { Tally } from './tally.ts'
import { type Figure, judgeFigure } from './thresholds.ts'
import type { TimeHistogram } from './time-histogram.ts'

/** Samples that an early judgement needs. */
const enough = 100

/**
 * The thresholds marked `abort` that are missed so far, judged by counters during a run. Those that need
 * rows (TPOT, lag, filters by account) wait for the end.
 */
export function missedEarly(scenario: Scenario, tally: Tally): readonly Threshold[] {
  return scenario.thresholds.filter((threshold) => {
    if (!threshold.abort || onlyGrows(threshold)) return false
    const figure = figureSoFar(scenario, tally, threshold)
    return figure !== null && judgeFigure(threshold, figure) === 'missed'
  })
}

/** Whether only the end can decide, because a count that is too small may still grow. */
function onlyGrows({ statistic, operator }: Threshold): boolean {
  return statistic.kind === 'count' && (operator === '>' || operator === '>=' || operator === '==')
}

function figureSoFar(scenario: Scenario, tally: Tally, threshold: Threshold): Figure | null {
  const wants = (phase: PhaseRun, step: number) =>
    (threshold.phase === null ? phase.part === 'steady' : phase.name === threshold.phase) &&
    (threshold.step === null || scenario.steps[step]!.name === threshold.step)
  const { metric, statistic, filter } = threshold
  if ((countedMetrics as readonly string[]).includes(metric)) {
    if (Object.keys(filter).length > 0) return null
    const histogram = tally.histogram(metric as Metric, wants)
    return histogram.samples < enough ? null : timeSoFar(histogram, statistic)
  }
  if (statistic.kind === 'rate') return null
  const counters = tally.countersWhere(wants)
  const sum = (pick: (each: StepCounters) => number) =>
    counters.reduce((total, each) => total + pick(each), 0)
  const one = countedSoFar(threshold, sum)
  if (one === null) return null
  const all = sum((each) => each[shareOf[metric] ?? 'sent'])
  if (all < enough) return null
  const value = statistic.kind === 'share' ? one / all : one
  return { value, low: value, high: value, samples: all, within: null }
}

/** A timeout counts as at least its duration, so the true value has no upper bound. */
function timeSoFar(histogram: TimeHistogram, statistic: Threshold['statistic']): Figure {
  const value = histogram.statistic(statistic)
  const { samples } = histogram
  const low =
    statistic.kind === 'percentile'
      ? histogram.atRank(intervalRanks(statistic.p / 100, samples)[0])
      : value
  return { value, low: low ?? -Infinity, high: Infinity, samples, within: null }
}

/** The denominator of each share, as in `thresholds.ts`. */
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
