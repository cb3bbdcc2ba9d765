import type { Contract } from '../contract/contract.ts'
import type { Objectives, Threshold } from '../scenario/scenario.ts'
import type { Store } from '../store/open.ts'

/** What became of a threshold. Without samples it is inconclusive, and that is not a pass. */
export interface ThresholdResult {
  readonly text: string
  readonly result: 'held' | 'missed' | 'inconclusive'
  /** In the unit of the bound; null without samples. */
  readonly value: number | null
  readonly bound: number
  readonly unit: 'us' | 'share' | 'per s' | 'count'
  readonly samples: number
}

export interface ThresholdScope {
  readonly runId: string
  readonly contract: Contract
  readonly objectives: Objectives
  /** Percentile of gaps between content events, which have no rows of their own. */
  readonly gapStatistic: (threshold: Threshold) => { value: number | null; samples: number }
}

/** A success for a request that was meant to succeed; a timeout counts at least its deadline. */
const timed = `outcome IN ('ok', 'timeout')`
const failed = `expects = 'ok' AND outcome IN ('http_error', 'broken', 'timeout')`

const timeColumns: Readonly<Record<string, string>> = {
  service: `CASE WHEN ${timed} THEN coalesce(service_us, closed_us - coalesce(sent_us, dispatched_us)) END`,
  response: `CASE WHEN ${timed} THEN coalesce(response_us, closed_us - intended_us) END`,
  ttft: `CASE WHEN outcome = 'ok' AND streamed = 1 THEN ttft_us END`,
  response_ttft: `CASE WHEN outcome = 'ok' AND streamed = 1 THEN response_ttft_us END`,
  tpot: `CASE WHEN outcome = 'ok' AND streamed = 1 THEN tpot_us END`,
  lag: 'lag_us',
  pool_wait: 'pool_wait_us',
}

const filterColumns: Readonly<Record<string, string>> = {
  code: `coalesce(CASE WHEN regexp_full_match($v, '[0-9]+') THEN status::VARCHAR ELSE coalesce(error_code, error_type) END, '')`,
  status: `coalesce(status::VARCHAR, '')`,
  outcome: 'outcome',
  reason: `coalesce(reason, '')`,
  model: `coalesce(model, '')`,
  account: `coalesce(account, '')`,
}

/** Filters that choose requests, and so what a share is a share of; the others choose their ends. */
const whose: ReadonlySet<string> = new Set(['model', 'account'])

/** Looks at the rows, all of them, exactly. Warm-up and drain count only where a phase is named. */
export async function checkThreshold(
  store: Store,
  threshold: Threshold,
  scope: ThresholdScope,
): Promise<ThresholdResult> {
  const unit = unitOf(threshold)
  const base = { text: threshold.text, bound: threshold.bound, unit }
  const { value, samples } =
    threshold.metric === 'itl'
      ? scope.gapStatistic(threshold)
      : await figureOf(store, threshold, scope)
  if (value === null || samples === 0) {
    return { ...base, result: 'inconclusive', value: null, samples }
  }
  const held = compare(value, threshold.operator, threshold.bound)
  return { ...base, result: held ? 'held' : 'missed', value, samples }
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

function unitOf({ statistic }: Threshold): ThresholdResult['unit'] {
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

async function figureOf(
  store: Store,
  threshold: Threshold,
  scope: ThresholdScope,
): Promise<{ value: number | null; samples: number }> {
  const parameters: string[] = [scope.runId]
  const parameter = (value: string) => `$${parameters.push(value)}`
  const where = ['run_id = $1']
  where.push(threshold.phase === null ? `part = 'steady'` : `phase = ${parameter(threshold.phase)}`)
  if (threshold.step !== null) where.push(`step = ${parameter(threshold.step)}`)
  const filter: string[] = []
  for (const [key, value] of Object.entries(threshold.filter)) {
    const name = parameter(String(value))
    const list = whose.has(key) ? where : filter
    list.push(`${filterColumns[key]!.replaceAll('$v', name)} = ${name}`)
  }
  const { select, samples } = selection(threshold, filter, scope)
  const [row] = await store.rows<{ value: number | null; samples: number }>(
    `WITH chosen AS (SELECT * FROM attempt_times WHERE ${where.join(' AND ')})
     SELECT (${select})::DOUBLE AS value, (${samples})::BIGINT AS samples FROM chosen`,
    parameters,
  )
  return { value: row?.value ?? null, samples: row?.samples ?? 0 }
}

/** SQL of the figure, and of the number of rows behind it. */
function selection(
  threshold: Threshold,
  filter: readonly string[],
  scope: ThresholdScope,
): { readonly select: string; readonly samples: string } {
  const { metric, statistic } = threshold
  const also = filter.length === 0 ? 'true' : filter.join(' AND ')
  const time = timeColumns[metric]
  if (time !== undefined) {
    const value = `CASE WHEN ${also} THEN ${time} END`
    const select =
      statistic.kind === 'percentile'
        ? `quantile_cont(${value}, ${statistic.p / 100})`
        : `${statistic.kind === 'mean' ? 'avg' : statistic.kind}(${value})`
    return { select, samples: `count(${value})` }
  }
  const { one, all } = countedBy(metric, filter.length > 0, scope)
  const sum = `coalesce(sum(CASE WHEN ${also} THEN (${one}) END), 0)`
  const seconds = `nullif((max(coalesce(closed_us, intended_us)) - min(intended_us)) / 1e6, 0)`
  const select =
    statistic.kind === 'share'
      ? `${sum} / nullif(sum(${all}), 0)`
      : statistic.kind === 'rate'
        ? `${sum} / ${seconds}`
        : sum
  return { select, samples: `sum(${all})` }
}

/** What a row adds to a count, and what it adds to that which the count is a share of. */
function countedBy(
  metric: string,
  filtered: boolean,
  scope: ThresholdScope,
): { readonly one: string; readonly all: string } {
  const sent = `CASE WHEN outcome <> 'not_sent' THEN 1 ELSE 0 END`
  const judged = `CASE WHEN expects = 'ok' AND outcome NOT IN ('not_sent', 'aborted') THEN 1 ELSE 0 END`
  const flag = (condition: string) => `CASE WHEN ${condition} THEN 1 ELSE 0 END`
  switch (metric) {
    case 'errors':
      // A filter names the errors that count; without one, those of requests meant to succeed.
      return {
        one: flag(filtered ? `outcome IN ('http_error', 'broken', 'timeout')` : failed),
        all: sent,
      }
    case 'success':
      return { one: flag(`outcome = 'ok' AND expects = 'ok'`), all: judged }
    case 'goodput':
      return {
        one: flag(`outcome = 'ok' AND expects = 'ok' AND ${goodSql(scope.objectives)}`),
        all: judged,
      }
    case 'not_sent':
      return { one: flag(`outcome = 'not_sent'`), all: '1' }
    case 'tokens':
      return { one: 'coalesce(completion_tokens, 0)', all: sent }
    case 'credits':
      return { one: creditsSql(scope.contract), all: sent }
    default:
      return { one: sent, all: sent }
  }
}

/** Whether a success met every objective; one that cannot be measured on it is not held against it. */
export function goodSql(objectives: Objectives): string {
  const bounds: readonly (readonly [string, number | null])[] = [
    ['ttft_us', objectives.ttftUs],
    ['tpot_us', objectives.tpotUs],
    ['service_us', objectives.serviceUs],
    ['response_us', objectives.responseUs],
  ]
  const parts = bounds.flatMap(([column, bound]) =>
    bound === null
      ? []
      : [`coalesce(${column} <= ${bound}, streamed = 0 OR '${column}' = 'tpot_us')`],
  )
  return parts.length === 0 ? 'true' : `(${parts.join(' AND ')})`
}

/** Credits of a success by the contract's price list. */
export function creditsSql(contract: Contract): string {
  const cases = contract.models
    .map((model) => `WHEN model = '${model.id.replaceAll("'", "''")}' THEN ${model.costCredits}`)
    .join(' ')
  return `CASE WHEN outcome <> 'ok' OR endpoint NOT IN ('chat', 'messages') THEN 0 ${cases} ELSE 0 END`
}
