import { samplesNeeded } from '../../measure/percentile.ts'
import { compare as compareAmounts, decimalText, readNumber } from '../../money/rational.ts'
import { amountMetrics, type Threshold, taskMetrics } from '../../scenario/threshold.ts'
import type { Session } from '../../store/session.ts'
import { type Figure, none, type ThresholdScope } from './figure.ts'
import { requestFigure } from './requests.ts'
import { taskFigure } from './tasks.ts'
import { gapFigure } from './times.ts'

/** A threshold that its samples cannot decide is inconclusive, which is not a pass. */
export interface ThresholdResult {
  readonly text: string
  readonly result: 'held' | 'missed' | 'inconclusive'
  /** In the unit of the bound; null without samples. */
  readonly value: number | null
  /** Bounds of the true value, for percentiles with 95 % confidence; null for no bound on that side. */
  readonly interval: readonly [low: number | null, high: number | null]
  readonly bound: number
  readonly unit: 'us' | 'share' | 'per s' | 'count' | 'amount'
  /** Of an amount of money; null for any other unit. */
  readonly currency: string | null
  /** An amount of money as it is, a decimal or a fraction; null for any other unit. `value` is near it. */
  readonly amount: string | null
  /** Why an amount has no value, in words; null if it has one, or if nothing was measured. */
  readonly unknown: string | null
  readonly samples: number
  /** Samples that would decide an inconclusive percentile; null if no number would. */
  readonly needs: number | null
}

/** Judges a threshold by all rows (by histograms for ITL). Warm-up and drain count only if it names their phase. */
export async function checkThreshold(
  store: Session,
  threshold: Threshold,
  scope: ThresholdScope,
): Promise<ThresholdResult> {
  const figure = taskMetrics.includes(threshold.metric)
    ? await taskFigure(store, threshold, scope)
    : threshold.metric === 'itl'
      ? await gapFigure(store, threshold, scope)
      : await requestFigure(store, threshold, scope)
  return resultOf(threshold, figure)
}

function resultOf(threshold: Threshold, figure: Figure): ThresholdResult {
  const { value, low, high, samples } = figure
  const result = judgeFigure(threshold, figure)
  return {
    text: threshold.text,
    result,
    value: samples === 0 ? null : value,
    interval: [Number.isFinite(low) ? low : null, Number.isFinite(high) ? high : null],
    bound: threshold.bound,
    unit: unitOf(threshold),
    currency: figure.currency ?? null,
    amount: figure.amount === undefined ? null : decimalText(figure.amount),
    unknown: figure.unknown ?? null,
    samples,
    needs: result === 'inconclusive' ? needsOf(threshold, figure) : null,
  }
}

/**
 * Held if all possible true values meet the bound and a percentile has enough samples; missed if none does;
 * else inconclusive.
 */
export function judgeFigure(
  threshold: Threshold,
  { value, low, high, samples, amount }: Figure,
): ThresholdResult['result'] {
  const { statistic, operator, bound } = threshold
  if (value === null || samples === 0) return 'inconclusive'
  if (amount !== undefined) {
    const written = readNumber(threshold.boundText)!
    return compare(compareAmounts(amount, written), operator, 0) ? 'held' : 'missed'
  }
  const meets = [low, high].map((end) => compare(end, operator, bound))
  const enough = statistic.kind !== 'percentile' || samples >= samplesNeeded(statistic.p / 100)
  if (meets.every(Boolean)) return enough ? 'held' : 'inconclusive'
  const straddles = operator === '==' && low <= bound && bound <= high
  return meets.some(Boolean) || straddles ? 'inconclusive' : 'missed'
}

/** Samples that would separate the percentile from the bound, if the distribution stays the same. */
function needsOf({ statistic }: Threshold, { samples, within }: Figure): number | null {
  if (statistic.kind !== 'percentile') return null
  const p = statistic.p / 100
  const fewest = samplesNeeded(p)
  if (samples < fewest || within === null) return fewest
  const apart = Math.abs(within - p)
  const needs = apart === 0 ? Infinity : Math.ceil((1.96 ** 2 * p * (1 - p)) / apart ** 2)
  // If there are already enough, only the true durations of the timeouts are open.
  return needs > samples && needs < 1e9 ? needs : null
}

/** The result of a threshold without measurements. */
export function undecided(threshold: Threshold): ThresholdResult {
  return resultOf(threshold, none)
}

export function compare(value: number, operator: Threshold['operator'], bound: number): boolean {
  switch (operator) {
    case '<':
      return value < bound
    case '<=':
      return value <= bound
    case '>':
      return value > bound
    case '>=':
      return value >= bound
    case '==':
      return value === bound
  }
}

export function unitOf({ metric, statistic }: Threshold): ThresholdResult['unit'] {
  if ((amountMetrics as readonly string[]).includes(metric)) return 'amount'
  switch (statistic.kind) {
    case 'share':
      return 'share'
    case 'rate':
      return 'per s'
    case 'count':
      return 'count'
    default:
      return 'us'
  }
}
