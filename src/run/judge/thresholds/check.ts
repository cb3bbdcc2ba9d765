import { fewestOfMean } from '../../../measure/interval/length.ts'
import { samplesNeeded } from '../../../measure/percentile.ts'
import { compare as compareAmounts, decimalText, readNumber } from '../../../money/rational.ts'
import {
  amountMetrics,
  ratioMetrics,
  type Threshold,
  taskMetrics,
} from '../../../scenario/threshold.ts'
import type { Session } from '../../../store/session/session.ts'
import { compare } from './compare.ts'
import { type Figure, none, type ThresholdScope } from './figure.ts'
import { withinOwnLimits } from './own-limit.ts'
import { requestFigure } from './requests.ts'
import { taskFigure } from './tasks.ts'
import { itlFigure } from './times.ts'

/** A threshold that its samples cannot decide is inconclusive, which is not a pass. */
export interface ThresholdResult {
  readonly text: string
  /** What its figure is of; a page reads nothing from the text. */
  readonly of: {
    readonly metric: Threshold['metric']
    readonly statistic: Threshold['statistic']['kind']
    /** Null for all steps. */
    readonly step: string | null
    /** Null for all phases that count. */
    readonly phase: string | null
    readonly isFiltered: boolean
  }
  readonly result: 'held' | 'missed' | 'inconclusive'
  /** In the unit of the bound; null without samples. */
  readonly value: number | null
  /**
   * Bounds of the true value with 95 % confidence; null for no bound on that side. Both are the value for a fact of the
   * run, such as a count.
   */
  readonly interval: readonly [low: number | null, high: number | null]
  readonly bound: number
  readonly unit: 'us' | 'share' | 'per s' | 'count' | 'amount'
  /** Of an amount of money; null for any other unit. */
  readonly currency: string | null
  /** An amount of money as it is, a decimal or a fraction; null for any other unit. `value` is near it. */
  readonly amount: string | null
  /** What a share is of, in words, if the text of the threshold does not say it; else null. */
  readonly shareOf: string | null
  /** What is not known and leaves the value open, or an amount without one, in words; null if all is known. */
  readonly unknown: string | null
  readonly samples: number
  /** How many independent samples they are worth, because neighbours wait in the same queues; null for a fact. */
  readonly worth: number | null
  /** About how many samples would decide it, if it is inconclusive; null if no number would. */
  readonly needs: number | null
  /** Where the run changed its level, in words, if that leaves it open; null if not. */
  readonly unsteady: string | null
}

/**
 * Judges the thresholds of a run. If it is not of one level, none is held, and one is missed only if both sides of the
 * change miss it. Facts of the run, such as counts, are judged in any case.
 */
export async function checkThresholds(
  session: Session,
  thresholds: readonly Threshold[],
  scope: ThresholdScope,
  unsteady: { readonly atUs: number; readonly text: string } | null,
): Promise<readonly ThresholdResult[]> {
  const results: ThresholdResult[] = []
  for (const threshold of thresholds) {
    const whole = await checkThreshold(session, threshold, scope)
    if (unsteady === null || whole.worth === null || whole.result === 'inconclusive') {
      results.push(whole)
      continue
    }
    const { atUs, text } = unsteady
    const isMissedOn = async (of: 'before' | 'from') => {
      const side = await checkThreshold(session, threshold, { ...scope, side: { of, atUs } })
      return side.result === 'missed'
    }
    const isMissed = (await isMissedOn('before')) && (await isMissedOn('from'))
    results.push(
      isMissed
        ? { ...whole, result: 'missed' }
        : { ...whole, result: 'inconclusive', unsteady: text },
    )
  }
  return results
}

/** Judges a threshold by all rows (by histograms for ITL). Warm-up and drain count only if it names their phase. */
export async function checkThreshold(
  session: Session,
  threshold: Threshold,
  scope: ThresholdScope,
): Promise<ThresholdResult> {
  const figure = taskMetrics.includes(threshold.metric)
    ? await taskFigure(session, threshold, scope)
    : threshold.metric === 'itl'
      ? await itlFigure(session, threshold, scope)
      : await requestFigure(session, threshold, scope)
  return resultOf(threshold, figure)
}

function resultOf(threshold: Threshold, figure: Figure): ThresholdResult {
  const { value, low, high, samples, needs } = figure
  const result = judgeFigure(threshold, figure)
  const { metric, statistic, step, phase, filter } = threshold
  const isFiltered = Object.keys(filter).length > 0
  return {
    text: threshold.text,
    of: { metric, statistic: statistic.kind, step, phase, isFiltered },
    result,
    value: samples === 0 ? null : value,
    interval: [Number.isFinite(low) ? low : null, Number.isFinite(high) ? high : null],
    bound: threshold.bound,
    unit: unitOf(threshold),
    currency: figure.currency ?? null,
    amount: figure.amount === undefined ? null : decimalText(figure.amount),
    shareOf: threshold.ownLimit === null ? null : withinOwnLimits,
    unknown: figure.unknown ?? null,
    samples,
    worth: figure.worth,
    needs: result === 'inconclusive' ? needs : null,
    unsteady: null,
  }
}

/**
 * Held if all possible true values meet the bound and there are enough samples, or if no sample came near it; missed if
 * no possible value meets it; else inconclusive.
 */
export function judgeFigure(
  threshold: Threshold,
  { value, low, high, samples, worth, far, amount }: Figure,
): ThresholdResult['result'] {
  const { statistic, operator, bound } = threshold
  if (value === null || samples === 0) return 'inconclusive'
  if (amount !== undefined) {
    const written = readNumber(threshold.boundText)!
    return compare(compareAmounts(amount, written), operator, 0) ? 'held' : 'missed'
  }
  const meets = [low, high].map((end) => compare(end, operator, bound))
  if (far !== null) return far
  if (meets.every(Boolean))
    return worth === null || samples >= fewestOf(statistic) ? 'held' : 'inconclusive'
  const straddles = operator === '==' && low <= bound && bound <= high
  return meets.some(Boolean) || straddles ? 'inconclusive' : 'missed'
}

/** Fewer samples never hold an interval. */
function fewestOf(statistic: Threshold['statistic']): number {
  if (statistic.kind === 'percentile') return samplesNeeded(statistic.p / 100)
  return statistic.kind === 'mean' ? fewestOfMean : 1
}

/** The result of a threshold without measurements. */
export const undecided = (threshold: Threshold): ThresholdResult => resultOf(threshold, none)

export function unitOf({ metric, statistic }: Threshold): ThresholdResult['unit'] {
  if ((amountMetrics as readonly string[]).includes(metric)) return 'amount'
  if ((ratioMetrics as readonly string[]).includes(metric)) return 'share'
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
