import { type Condition, notACondition, parseCondition } from '../measure/condition.ts'
import type { LimitByLength } from '../measure/limit.ts'
import { judgedNames } from '../measure/measures.ts'
import { words } from '../user/words.ts'
import { limitForm, limitOf, ratePerSOf, shareOf } from './quantity.ts'

/** Times: the judged measures of an attempt, all gaps between tokens, and the times of whole tasks. */
export const timeMetrics = [...judgedNames, 'itl', 'task', 'task_service'] as const
export const shareMetrics = words('errors success goodput correct empty not_sent task_success')
export const countMetrics = ['requests', 'tokens', 'credits', 'tasks'] as const
/** Amounts of one thing each: the credits of a task, and its cost in the contract's currency. */
export const amountMetrics = ['task_credits', 'task_cost'] as const

/** Shares that each request has, and not the requests together. */
export const ratioMetrics = ['output_length', 'fluidity'] as const

/** All that a threshold may name. */
export const metricNames = [
  ...timeMetrics,
  ...ratioMetrics,
  ...shareMetrics,
  ...countMetrics,
  ...amountMetrics,
] as const
type Metric = (typeof metricNames)[number]

/** Metrics of whole tasks; a threshold on them may name a task. */
export const taskMetrics: readonly string[] = [
  ...['task', 'task_service', 'task_success', 'tasks'],
  ...amountMetrics,
]

/** `steady/chat.ttft.p95 < 800ms`; inconclusive without samples. */
export interface Threshold
  extends Pick<Condition<Metric>, 'text' | 'phase' | 'step' | 'metric' | 'operator'> {
  readonly statistic: Statistic
  readonly filter: Readonly<Partial<Record<FilterKey, string>>>
  /**
   * In microseconds for times, 0 to 1 for shares, 1 for the whole of a ratio, per second for rates. With an own limit of
   * each request, the share of them that must be within it.
   */
  readonly bound: number
  /** What each request may take by its length; null if the bound is the same for all. */
  readonly ownLimit: OwnLimit | null
  /** The bound as it is written: an amount has more digits than a number holds. */
  readonly boundText: string
  /** Whether the run ends as soon as it is clearly missed. */
  readonly abort: boolean
}

/** A request is within its own limit if its time is below it, or at most as long. */
export interface OwnLimit {
  readonly limit: LimitByLength
  readonly isStrict: boolean
}

export type Statistic =
  | { readonly kind: 'percentile'; readonly p: number }
  | { readonly kind: 'mean' | 'min' | 'max' | 'share' | 'rate' | 'count' }

export const filterKeys = ['code', 'status', 'outcome', 'reason', 'model', 'account'] as const
export type FilterKey = (typeof filterKeys)[number]

/**
 * Parses a threshold: a condition whose metric is one of the above, with filters such as `{code=429}`.
 *
 * @returns the threshold, or a noun phrase for what was expected
 */
export function parseThreshold(text: string, abort = false): Threshold | string {
  const read = parseCondition(text, metricNames)
  if (read === notACondition) return `a threshold such as chat.ttft.p95 < 800ms: ${read}`
  if (typeof read === 'string') return read
  const filter = parseFilter(read.filter ?? '')
  if (typeof filter === 'string') return filter
  const rest = { filter, boundText: read.bound, abort }
  const limit = isTime(read.metric) ? limitOf(read.bound) : null
  if (limit !== null && typeof limit !== 'number') {
    const own = byOwnLimit(read, limit)
    return typeof own === 'string' ? own : { ...read, ...own, ...rest }
  }
  const statistic = statisticOf(read.metric, read.statistic)
  if (typeof statistic === 'string') return statistic
  const bound = boundOf(read.metric, statistic, read.bound)
  if (typeof bound === 'string') return bound
  return { ...read, ...rest, statistic, bound, ownLimit: null }
}

/**
 * A percentile is below a limit by length if that share of the requests is within their own limits: all of them without a
 * statistic.
 */
function byOwnLimit(
  { metric, operator, statistic }: Condition<Metric>,
  limit: LimitByLength,
): Pick<Threshold, 'operator' | 'statistic' | 'bound' | 'ownLimit'> | string {
  if (!(judgedNames as readonly string[]).includes(metric)) {
    return `a limit that is the same for all: ${metric} is not of one request, so no length is its own`
  }
  if (operator !== '<' && operator !== '<=') {
    return `< or <= before a limit that grows with the request, not ${operator}`
  }
  const of = statistic === null || statistic === 'max' ? null : statisticOf(metric, statistic)
  if (typeof of === 'string') return of
  if (of !== null && of.kind !== 'percentile') {
    return `a percentile of ${metric} under a limit that grows with the request, or no statistic, which means every request; not ${statistic}`
  }
  return {
    operator: '>=',
    statistic: { kind: 'share' },
    bound: of === null ? 1 : of.p / 100,
    ownLimit: { limit, isStrict: operator === '<' },
  }
}

const isTime = (metric: string) => (timeMetrics as readonly string[]).includes(metric)
const isRatio = (metric: string) => (ratioMetrics as readonly string[]).includes(metric)
const isAmount = (metric: string) => (amountMetrics as readonly string[]).includes(metric)
const isShare = (metric: string) => (shareMetrics as readonly string[]).includes(metric)

function parseFilter(text: string): Threshold['filter'] | string {
  const filter: Partial<Record<FilterKey, string>> = {}
  for (const pair of text.split(',').filter((piece) => piece.trim() !== '')) {
    const [key, value] = pair.split('=').map((side) => side.trim())
    if (!filterKeys.includes(key as FilterKey) || !value) {
      return `filters such as {code=429}, with the keys ${filterKeys.join(', ')}`
    }
    filter[key as FilterKey] = value
  }
  return filter
}

function statisticOf(metric: string, text: string | null): Statistic | string {
  if (isTime(metric) || isRatio(metric)) {
    const percentile = /^p(\d+(?:\.\d+)?)$/.exec(text ?? '')
    if (percentile) {
      const p = Number(percentile[1])
      return p > 0 && p < 100 ? { kind: 'percentile', p } : 'a percentile between p0 and p100'
    }
    if (text === 'median') return { kind: 'percentile', p: 50 }
    if (text === 'mean' || text === 'min' || text === 'max') return { kind: text }
    return `a statistic after ${metric}: p50 to p99.9, median, mean, min or max`
  }
  if (isAmount(metric)) {
    const kind = text ?? 'mean'
    if (kind === 'mean' || kind === 'min' || kind === 'max') return { kind }
    return `a statistic of ${metric}: mean (the default), min or max`
  }
  if (text === 'rate' || text === 'count') return { kind: text }
  if (isShare(metric)) {
    return text === null || text === 'share'
      ? { kind: 'share' }
      : `a statistic of ${metric}: share (the default), rate or count`
  }
  return text === null ? { kind: 'count' } : `a statistic of ${metric}: count (the default) or rate`
}

function boundOf(metric: string, statistic: Statistic, text: string): number | string {
  const plain = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : null
  if (isTime(metric)) {
    const limit = limitOf(text)
    return typeof limit === 'number' ? limit : `${limitForm} as bound of ${metric}`
  }
  if (isRatio(metric))
    return shareOf(text) ?? plain ?? `a share such as 95% or 0.95 as bound of ${metric}`
  switch (statistic.kind) {
    case 'share': {
      const share = shareOf(text) ?? plain
      return share !== null && share <= 1
        ? share
        : `a share such as 1% or 0.99 as bound of ${metric}`
    }
    case 'rate':
      return ratePerSOf(text) ?? plain ?? `a rate such as 20/s as bound of ${metric}.rate`
    default:
      return plain ?? `a number as bound of ${metric}`
  }
}
