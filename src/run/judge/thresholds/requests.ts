import { pricesOf } from '../../../contract/contract.ts'
import { creditsSql } from '../../../measure/credits.ts'
import { limitSql } from '../../../measure/limit.ts'
import { columnOf, cutOf, measureNames } from '../../../measure/measures.ts'
import { goodSql, maybeGoodSql } from '../../../measure/objectives.ts'
import { bySecondSql, completedIn, steadySql } from '../../../measure/rates.ts'
import { fluidity, outputLength } from '../../../measure/shares.ts'
import type { Threshold } from '../../../scenario/threshold.ts'
import { readOrdered } from '../../../store/read/ordered.ts'
import type { Session } from '../../../store/session/session.ts'
import { grouped } from '../../../user/grouped.ts'
import { lookup } from '../../../user/lookup.ts'
import { chosenRows, exactly, type Figure, type ThresholdScope } from './figure.ts'
import { rateOf, shareOf } from './intervals.ts'
import { mirrored, mirroredThreshold } from './mirrored.ts'
import { ownLimitFigure } from './own-limit.ts'
import { timeFigure } from './times.ts'

/** What a filter compares with its value, as SQL. @param value the parameter that holds it */
const filterColumns: Readonly<Record<string, (value: string) => string>> = lookup({
  code: (value) =>
    `coalesce(CASE WHEN regexp_full_match(${value}, '[0-9]+') THEN status::VARCHAR ELSE coalesce(error_code, error_type) END, '')`,
  status: () => `coalesce(status::VARCHAR, '')`,
  outcome: () => 'outcome',
  reason: () => `coalesce(reason, '')`,
  model: () => `coalesce(model, '')`,
  account: () => `coalesce(account, '')`,
})

/** Filters that select the denominator of a share; the others select outcomes. */
const whose: ReadonlySet<string> = new Set(['model', 'account'])

/** Metrics whose rates are over the time of arrivals; the others are completions. */
const arrivals: ReadonlySet<string> = new Set(['requests', 'not_sent'])

/** The figure of a time or a count of requests. */
export async function requestFigure(
  session: Session,
  threshold: Threshold,
  scope: ThresholdScope,
): Promise<Figure> {
  const { where, parameters } = chosenRows(threshold, scope)
  const filter: string[] = []
  for (const [key, value] of Object.entries(threshold.filter)) {
    const name = `$${parameters.push(String(value))}`
    const list = whose.has(key) ? where : filter
    list.push(`${filterColumns[key]!(name)} = ${name}`)
  }
  const chosen = `(FROM attempt_values WHERE ${where.join(' AND ')})`
  const filtered = filter.length === 0 ? chosen : `(FROM ${chosen} WHERE ${filter.join(' AND ')})`
  const measure = measureNames.find((name) => columnOf(name) === `${threshold.metric}_us`)
  if (measure !== undefined && threshold.ownLimit !== null) {
    return ownLimitFigure(session, threshold, threshold.ownLimit, {
      from: filtered,
      measure,
      parameters,
    })
  }
  if (measure !== undefined) {
    const column = { value: columnOf(measure), cut: cutOf(measure) }
    return timeFigure(session, threshold, { from: filtered, column, parameters })
  }
  if (threshold.metric === 'output_length') {
    const { of, value, from } = outputLength
    const column = { value: `CASE WHEN ${of} THEN ${value} END`, cut: null }
    return timeFigure(session, threshold, { from: from(filtered), column, parameters })
  }
  if (threshold.metric === 'fluidity') {
    // Deadlines that were missed, because what is too much of them is the end that a short run does not know.
    const missed = { value: `CASE WHEN ${fluidity.of} THEN 1 - (${fluidity.value}) END`, cut: null }
    const of = { from: filtered, column: missed, parameters }
    return mirrored(await timeFigure(session, mirroredThreshold(threshold), of))
  }
  const sql = countSql(threshold, filter, scope)
  const rated = { from: chosen, offsetUs: '0', bySteps: false }
  const { metric, statistic } = threshold
  const steady = statistic.kind === 'rate' ? `CROSS JOIN ${steadySql(rated)} AS steady` : ''
  const [row] = await session.rows<{ value: number | null; samples: number; unknown: number }>(
    `SELECT (${sql.select})::DOUBLE AS value, ${sql.samples} AS samples, ${sql.unknown} AS unknown
     FROM ${chosen} AS chosen ${steady}`,
    parameters,
  )
  const { value, samples, unknown } = row!
  // More requests do not tell what is not known of these.
  const ofGoodput =
    metric === 'goodput'
      ? { needs: null, unknown: `of ${grouped(unknown)} it is not known whether they are good` }
      : {}
  const open = (figure: Figure) =>
    unknown > 0 ? { ...figure, high: Infinity, far: null, ...ofGoodput } : figure
  // What this client planned and sent is a fact, not a sample of the service.
  if (value === null || arrivals.has(metric)) return open(exactly(value, samples))
  switch (statistic.kind) {
    case 'share': {
      const [ordered] = await readOrdered(
        session,
        chosen,
        [{ value: sql.each, cut: null }],
        parameters,
      )
      return open(shareOf(Uint8Array.from(ordered!.values), threshold))
    }
    case 'rate': {
      const [counts] = await session.doubles(bySecondSql(chosen, { count: sql.sum }), parameters)
      return open(rateOf(value, samples, counts ?? new Float64Array(), threshold))
    }
    default:
      return open(exactly(value, samples))
  }
}

/**
 * SQL of a count, share or rate, of its number of samples, of the rows with an unknown amount, of the sum over any rows,
 * and of what one row of a share adds.
 */
function countSql(
  { metric, statistic }: Threshold,
  filter: readonly string[],
  scope: ThresholdScope,
): Readonly<Record<'select' | 'samples' | 'unknown' | 'sum' | 'each', string>> {
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
  return {
    select,
    samples,
    unknown: `count(*) FILTER (${also} AND ${unknown})`,
    sum: `sum(${one}) FILTER (${also})`,
    each: `CASE WHEN ${all} THEN coalesce((${one})::INTEGER = 1 AND ${also}, false)::INTEGER END`,
  }
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
    case 'goodput': {
      const boundOf = (name: keyof typeof objectives) => {
        const limit = objectives[name]
        return limit === null ? null : limitSql(limit)
      }
      return { ...of(goodSql(boundOf), 'judged'), unknown: maybeGoodSql(boundOf) }
    }
    case 'correct':
      return { ...of('correct', 'examined'), unknown: `answer = 'unchecked'` }
    case 'empty':
      return of('empty', 'generated')
    case 'not_sent':
      return of('NOT was_sent', 'true')
    case 'tokens':
      return { one: 'output_tokens', all: 'was_sent', ofNone: 'NULL', unknown: 'unreported' }
    case 'credits':
      return { one: credits, all: 'was_sent', ofNone: 'NULL', unknown: `(${credits}) IS NULL` }
    default:
      return of('was_sent', 'was_sent')
  }
}
