import { quarterUs } from '../../measure/usage/quantities.ts'
import { fileTokensSql, linesSql, sumsOfUnitsSql } from '../../measure/usage/sums.ts'
import { type TagDimension, tagOf } from '../../measure/usage/tags.ts'
import { identifier, literal } from '../literal.ts'
import { cellsSql, quartersSql, shownBucketsSql } from './quarters.ts'
import { tagSql } from './tags.ts'

/** The first and the last local time of a row's interval. */
const first = 'first_clock'
const last = 'last_clock'

/** A time that holds the whole interval locally, else the UTC days that hold it, which cannot be cut. */
const timeSql = (unit: 'hour' | 'day' | 'month', format: string) =>
  `CASE WHEN date_trunc('${unit}', ${first}) = date_trunc('${unit}', ${last})
        THEN strftime(date_trunc('${unit}', ${first}), '${format}')${unit === 'hour' ? ' || zone_offset' : ''}
        WHEN strftime(utc_first, '%Y-%m-%d') = strftime(utc_last, '%Y-%m-%d') THEN strftime(utc_first, '%Y-%m-%d UTC')
        ELSE strftime(utc_first, '%Y-%m-%d to ') || strftime(utc_last, '%Y-%m-%d UTC') END`

/** What usage can be summed by, and its SQL. */
const dimensionSql = {
  hour: timeSql('hour', '%Y-%m-%d %H:00 '),
  day: timeSql('day', '%Y-%m-%d'),
  month: timeSql('month', '%Y-%m'),
  model: 'model',
  key: 'key_fp',
  endpoint: 'endpoint',
  account: 'account',
  outcome: 'outcome',
  status: 'status',
  source: 'source',
} as const

type PlainDimension = keyof typeof dimensionSql
export type SumDimension = PlainDimension | TagDimension
export const sumDimensions = Object.keys(dimensionSql) as readonly PlainDimension[]

const ofDimension = (by: SumDimension): string => {
  const tag = tagOf(by)
  return tag === null ? dimensionSql[by as PlainDimension] : tagSql(tag)
}

const ofStore = `(
  WITH usage_shown AS (FROM usage), usage_shown_buckets AS (${shownBucketsSql('')}), usage_cells AS (${cellsSql()})
  ${quartersSql()})`

/**
 * SQL for what was used, by any dimensions and by unit. A sum is over the requests that report its value; columns that end with `_unknown`
 * count the others. A row is of one unit, so amounts are never added up over units.
 *
 * @param period.timezone IANA name, of hours, days and months
 * @param period.fromUs first start of an interval, inclusive, Unix microseconds; null for the first request
 * @param period.toUs exclusive; null for the last request
 * @param quarters the table of quarters; default: those of the store
 */
export function exportedSumsSql(
  by: readonly SumDimension[],
  period: {
    readonly timezone: string
    readonly fromUs: number | null
    readonly toUs: number | null
  },
  quarters?: string,
): string {
  const { timezone, fromUs, toUs } = period
  const local = (us: string) => `timezone(${literal(timezone)}, make_timestamptz((${us})::BIGINT))`
  const when = [
    'true',
    ...(fromUs === null ? [] : [`quarter * ${quarterUs} >= ${fromUs}`]),
    ...(toUs === null ? [] : [`quarter * ${quarterUs} < ${toUs}`]),
  ].join(' AND ')
  const localRows = `(
      SELECT *, ${local(`quarter * ${quarterUs}`)} AS ${first}, ${local(`quarter * ${quarterUs} + width_us - 1`)} AS ${last},
        make_timestamp(quarter * ${quarterUs}) AS utc_first, make_timestamp(quarter * ${quarterUs} + width_us - 1) AS utc_last,
        CASE WHEN offset_s < 0 THEN '-' ELSE '+' END || printf('%02d:%02d', abs(offset_s) // 3600, abs(offset_s) % 3600 // 60) AS zone_offset
      FROM (
        SELECT *, (epoch_us(${local(`quarter * ${quarterUs}`)}) - quarter * ${quarterUs}) // 1000000 AS offset_s
        FROM ${quarters ?? ofStore}
        WHERE ${when}))`
  const unknown = (known: string, name: string) =>
    `greatest(0, coalesce(requests, 0) - coalesce("${known}", 0)) AS ${name}`
  return `
    SELECT ${by.map((each, at) => `"by ${at}" AS ${identifier(each)}`).join(', ')}, type,
      requests, coalesce("requestsUnknown", 0) AS requests_unknown, coalesce(failed, 0) AS failed,
      ${fileTokensSql}, ${unknown('inputKnown', 'tokens_unknown')},
      unit, amount, ${unknown('costKnown', 'amount_unknown')}
    FROM (${linesSql(
      sumsOfUnitsSql({
        from: localRows,
        by: Object.fromEntries(by.map((each, at) => [`by ${at}`, ofDimension(each)])),
      }),
      by.map((_, at) => `by ${at}`),
    )})
    ORDER BY ${by.map((_, at) => `${at + 1} NULLS LAST`).join(', ')}, type DESC, unit`
}
