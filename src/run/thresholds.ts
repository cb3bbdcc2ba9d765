import { type Contract, pricesOf } from '../contract/contract.ts'
import { columnOf, creditsSql, cutOf, goodSql, measureNames } from '../measure/measures.ts'
import { intervalRanks, samplesNeeded } from '../measure/percentile.ts'
import { completedIn, steadySql } from '../measure/rates.ts'
import {
  compare as compareAmounts,
  decimalText,
  numberOf,
  type Rational,
  readNumber,
} from '../money/rational.ts'
import type { Objectives } from '../scenario/scenario.ts'
import { amountMetrics, type Threshold, taskMetrics } from '../scenario/threshold.ts'
import { readGaps } from '../store/gaps.ts'
import type { Session } from '../store/session.ts'
import { taskMoney } from './task-money.ts'

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

export interface ThresholdScope {
  readonly runId: string
  readonly contract: Contract
  readonly objectives: Objectives
}

/** A value, and bounds of the true value. */
export interface Figure {
  readonly value: number | null
  readonly low: number
  readonly high: number
  readonly samples: number
  /** Share of the samples at or below the bound; null if it does not matter. */
  readonly within: number | null
  readonly currency?: string
  /** An amount of money, which is compared instead of `value`. */
  readonly amount?: Rational
  readonly unknown?: string
}

const none: Figure = { value: null, low: -Infinity, high: Infinity, samples: 0, within: null }
const exactly = (value: number | null, samples: number): Figure =>
  value === null ? { ...none, samples } : { value, low: value, high: value, samples, within: null }

const filterColumns: Readonly<Record<string, string>> = {
  code: `coalesce(CASE WHEN regexp_full_match($v, '[0-9]+') THEN status::VARCHAR ELSE coalesce(error_code, error_type) END, '')`,
  status: `coalesce(status::VARCHAR, '')`,
  outcome: 'outcome',
  reason: `coalesce(reason, '')`,
  model: `coalesce(model, '')`,
  account: `coalesce(account, '')`,
}

/** Filters that select the denominator of a share; the others select outcomes. */
const whose: ReadonlySet<string> = new Set(['model', 'account'])

/** Metrics whose rates are over the time of arrivals; the others are completions. */
const arrivals: ReadonlySet<string> = new Set(['requests', 'not_sent'])

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
      : await rowFigure(store, threshold, scope)
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
    const written = readNumber(threshold.text.split(/[<>=]/).at(-1)!)!
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

async function gapFigure(
  store: Session,
  threshold: Threshold,
  { runId }: ThresholdScope,
): Promise<Figure> {
  const { statistic, bound } = threshold
  const { where, parameters } = chosenRows(threshold, runId)
  const gaps = (await readGaps(store, where.join(' AND '), parameters)).get(null)
  if (gaps === undefined) return none
  if (statistic.kind !== 'percentile') {
    return exactly(gaps[statistic.kind as 'mean' | 'min' | 'max'], gaps.n)
  }
  const p = statistic.p / 100
  const [low, high] = intervalRanks(p, gaps.n)
  return {
    value: gaps.atShare(p),
    low: low < 1 ? -Infinity : gaps.atShare(low / gaps.n),
    high: high > gaps.n ? Infinity : gaps.atShare(high / gaps.n),
    samples: gaps.n,
    within: gaps.within(bound),
  }
}

/** A figure of whole tasks; the step of the threshold is the name of a task. */
async function taskFigure(
  store: Session,
  threshold: Threshold,
  { runId, contract }: ThresholdScope,
): Promise<Figure> {
  const { where, parameters } = chosenRows(threshold, runId, 'task')
  const { metric, statistic } = threshold
  const from = `(FROM task_values WHERE ${where.join(' AND ')})`
  if (metric === 'task_success' || metric === 'tasks') {
    const one = metric === 'tasks' ? 'judged' : 'succeeded'
    const count = `count(*) FILTER (${one})`
    const seconds = `nullif((max(ended_us) - min(intended_us)) / 1e6, 0)`
    const select =
      statistic.kind === 'share'
        ? `${count} / nullif(count(*) FILTER (judged), 0)`
        : statistic.kind === 'rate'
          ? `${count} / ${seconds}`
          : count
    const [row] = await store.rows<{ value: number | null; samples: number }>(
      `SELECT (${select})::DOUBLE AS value, count(*) FILTER (judged) AS samples FROM ${from}`,
      parameters,
    )
    return exactly(row!.value, row!.samples)
  }
  if (metric === 'task_credits') {
    const credits = creditsSql(pricesOf(contract))
    const statisticSql = { mean: 'avg', min: 'min', max: 'max' }[
      statistic.kind as 'mean' | 'min' | 'max'
    ]
    const [row] = await store.rows<{ value: number | null; samples: number; unknown: number }>(
      `WITH spent AS (
         SELECT session, sum(${credits})::DOUBLE AS credits, count(*) FILTER ((${credits}) IS NULL) AS open
         FROM attempts WHERE run_id = $1 AND task IS NOT NULL GROUP BY session)
       SELECT ${statisticSql}(credits)::DOUBLE AS value, count(*) AS samples, coalesce(sum(open), 0)::INTEGER AS unknown
       FROM ${from} JOIN spent USING (session) WHERE judged`,
      parameters,
    )
    const { value, samples, unknown } = row!
    // A request without a price may cost anything.
    return unknown > 0
      ? { ...none, samples, unknown: `${unknown} requests have no price in credits` }
      : exactly(value, samples)
  }
  if (metric === 'task_cost') {
    const rows = await store.rows<{ session: string }>(
      `SELECT session::VARCHAR AS session FROM ${from} WHERE judged`,
      parameters,
    )
    if (rows.length === 0) return none
    const tasks = new Set(rows.map(({ session }) => session))
    const kind = statistic.kind as 'mean' | 'min' | 'max'
    const money = await taskMoney(store, { runId, contract }, tasks, kind)
    return 'unknown' in money
      ? { ...none, samples: tasks.size, unknown: money.unknown }
      : { ...exactly(numberOf(money.amount), tasks.size), ...money }
  }
  return timeFigure(store, threshold, { from, us: `${metric}_us`, cut: 'cut', parameters })
}

/** Conditions on the rows of a threshold, and their parameters. */
function chosenRows({ phase, step }: Threshold, runId: string, named = 'step') {
  const parameters: string[] = [runId]
  const parameter = (value: string) => `$${parameters.push(value)}`
  const where = ['run_id = $1', phase === null ? `part = 'steady'` : `phase = ${parameter(phase)}`]
  if (step !== null) where.push(`${named} = ${parameter(step)}`)
  return { where, parameters }
}

async function rowFigure(
  store: Session,
  threshold: Threshold,
  scope: ThresholdScope,
): Promise<Figure> {
  const { where, parameters } = chosenRows(threshold, scope.runId)
  const filter: string[] = []
  for (const [key, value] of Object.entries(threshold.filter)) {
    const name = `$${parameters.push(String(value))}`
    const list = whose.has(key) ? where : filter
    list.push(`${filterColumns[key]!.replaceAll('$v', name)} = ${name}`)
  }
  const chosen = `(FROM attempt_values WHERE ${where.join(' AND ')})`
  const measure = measureNames.find((name) => columnOf(name) === `${threshold.metric}_us`)
  if (measure === undefined) {
    const { select, samples, unknown } = countSql(threshold, filter, scope)
    const rated = { from: chosen, offsetUs: '0', bySteps: false }
    const steady =
      threshold.statistic.kind === 'rate' ? `CROSS JOIN ${steadySql(rated)} AS steady` : ''
    const [row] = await store.rows<{ value: number | null; samples: number; unknown: number }>(
      `SELECT (${select})::DOUBLE AS value, ${samples} AS samples, ${unknown} AS unknown
       FROM ${chosen} AS chosen ${steady}`,
      parameters,
    )
    const figure = exactly(row!.value, row!.samples)
    return row!.unknown > 0 ? { ...figure, high: Infinity } : figure
  }
  const from = filter.length === 0 ? chosen : `(FROM ${chosen} WHERE ${filter.join(' AND ')})`
  const [us, cut] = [columnOf(measure), cutOf(measure)]
  return timeFigure(store, threshold, { from, us, cut, parameters })
}

/** The figure of a time over rows: their relation, the column, and the one that says whether a value is cut off. */
async function timeFigure(
  store: Session,
  threshold: Threshold,
  of: {
    readonly from: string
    readonly us: string
    readonly cut: string | null
    readonly parameters: string[]
  },
): Promise<Figure> {
  const { from, parameters } = of
  const sql = timeSql(of.us, of.cut, threshold)
  const [counted] = await store.rows<{ n: number; within: number | null }>(
    `SELECT ${sql.counts} FROM ${from}`,
    parameters,
  )
  const { n, within } = counted!
  if (n === 0) return none
  const [row] = await store.rows<{ value: number; low: number; high: number }>(
    `SELECT ${sql.figures(n)} FROM ${from}`,
    parameters,
  )
  return { ...row!, samples: n, within }
}

/** SQL of the figure of a time: a value that was cut off is a lower bound without an upper one. */
function timeSql(us: string, cut: string | null, { statistic, bound }: Threshold) {
  const least = `${us}::DOUBLE`
  const most = cut === null ? least : `CASE WHEN ${cut} THEN 'infinity'::DOUBLE ELSE ${least} END`
  const figures = (n: number) => {
    if (statistic.kind !== 'percentile') {
      const of = statistic.kind === 'mean' ? 'avg' : statistic.kind
      // A mean or maximum with an endless value is endless.
      const high =
        cut === null || statistic.kind === 'min'
          ? `${of}(${most})`
          : `CASE WHEN bool_or(${cut}) THEN 'infinity'::DOUBLE ELSE ${of}(${least}) END`
      return `${of}(${least}) AS value, ${of}(${least}) AS low, ${high} AS high`
    }
    const p = statistic.p / 100
    const [low, high] = intervalRanks(p, n)
    const at = (rank: number, values: string) => `quantile_disc(${values}, ${(rank - 0.5) / n})`
    return `quantile_cont(${least}, ${p}) AS value,
      ${low < 1 ? `'-infinity'::DOUBLE` : at(low, least)} AS low,
      ${high > n ? `'infinity'::DOUBLE` : at(high, most)} AS high`
  }
  return {
    counts: `count(${us}) AS n, count(*) FILTER (${most} <= ${bound}) / nullif(count(${us}), 0) AS within`,
    figures,
  }
}

/** SQL of a count, share or rate, of its number of samples, and of the rows with an unknown amount. */
function countSql(
  { metric, statistic }: Threshold,
  filter: readonly string[],
  scope: ThresholdScope,
): { readonly select: string; readonly samples: string; readonly unknown: string } {
  const { one, all, ofNone, unknown } = countedBy(metric, filter.length > 0, scope)
  const also = filter.length === 0 ? 'true' : filter.join(' AND ')
  const isRate = statistic.kind === 'rate'
  const inTime = isRate && !arrivals.has(metric) ? ` AND ${completedIn('steady')}` : ''
  const sum = `coalesce(sum(${one}) FILTER (${also}${inTime}), ${ofNone})`
  const samples = `count(*) FILTER (${all})`
  const select =
    statistic.kind === 'share'
      ? `coalesce(${sum}, 0) / nullif(${samples}, 0)`
      : isRate
        ? `${sum} / any_value(steady.seconds)`
        : sum
  return { select, samples, unknown: `count(*) FILTER (${also} AND ${unknown})` }
}

/**
 * SQL: what a row adds to a count, whether it is in the denominator, the sum over no row, and whether a row
 * may add more. No row is a count of 0, but an amount that no row has is unknown.
 */
function countedBy(
  metric: string,
  filtered: boolean,
  { objectives, contract }: ThresholdScope,
): Readonly<Record<'one' | 'all' | 'ofNone' | 'unknown', string>> {
  const of = (standing: string, all: string) => ({
    one: `(${standing})::INTEGER`,
    all,
    ofNone: '0',
    unknown: 'false',
  })
  const credits = creditsSql(pricesOf(contract))
  switch (metric) {
    case 'errors':
      // A filter selects the errors; without one, errors that were not provoked count.
      return of(filtered ? `outcome IN ('http_error', 'broken', 'timeout')` : 'failed', 'was_sent')
    case 'success':
      return of('succeeded', 'judged')
    case 'goodput':
      return {
        ...of(
          goodSql((name) => objectives[name] ?? null),
          'judged',
        ),
        unknown: `answer = 'unchecked'`,
      }
    case 'correct':
      return { ...of('correct', 'examined'), unknown: `answer = 'unchecked'` }
    case 'empty':
      return of('empty', 'generated')
    case 'not_sent':
      return of('NOT was_sent', 'true')
    case 'tokens':
      return {
        one: 'output_tokens',
        all: 'was_sent',
        ofNone: 'NULL',
        unknown: 'unreported',
      }
    case 'credits':
      return { one: credits, all: 'was_sent', ofNone: 'NULL', unknown: `(${credits}) IS NULL` }
    default:
      return of('was_sent', 'was_sent')
  }
}
