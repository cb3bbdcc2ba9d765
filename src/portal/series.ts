import { textList } from '../store/literal.ts'
import {
  type Asked,
  conditionOf,
  coverageOf,
  dimensionSql,
  exact,
  type Input,
  nameOf,
  neededBy,
  needs,
  periodAsked,
  us,
  within,
} from './asked.ts'
import { autoBucket, type Bar, barsOf, timeIn } from './period.ts'
import type { Answers, Metric } from './shapes.ts'
import { addDecimals, requestsSql, valueSql } from './sums.ts'

const mostSeries = 10

/** Sums of each bar and name; names beyond the largest are null in `name` with `other`. */
export async function readSeries(asked: Asked, query: Input<'series'>): Promise<Answers['series']> {
  const { session, view, nowMs } = asked
  const { by, metric } = query
  for (const each of [by, metric]) if (neededBy[each] !== undefined) needs(asked, neededBy[each])
  const period = periodAsked(query, view)
  const condition = await conditionOf(asked, query)
  const bucket = query.bucket === 'auto' ? autoBucket(period) : query.bucket
  const bars = barsOf(period, bucket, view.firstWeekday)
  const name = by === 'none' ? `''` : `coalesce(${dimensionSql(by)}, '')`
  const where = `${within(period)} AND ${condition}`
  const top = await session.rows<{ name: string }>(
    `SELECT ${name} AS name FROM mine WHERE ${where} GROUP BY name
     ORDER BY ${valueSql[metric]} DESC NULLS LAST, name LIMIT ${mostSeries + 1}`,
  )
  const shown = (top.length > mostSeries ? top.slice(0, mostSeries - 1) : top).map(
    (each) => each.name,
  )
  const isRest = top.length > mostSeries
  const rows = await session.rows<{
    bar: number
    name: string
    isOther: boolean
    value: string | null
    requests: number
  }>(
    `WITH bars AS (SELECT unnest(range(${bars.length})) AS bar, unnest([${bars.map((bar) => bar.startUs).join()}]::BIGINT[]) AS start_us)
     SELECT bar, CASE WHEN shown THEN name ELSE '' END AS name, NOT shown AS "isOther",
       ${valueSql[metric]}::VARCHAR AS value, ${requestsSql} AS requests
     FROM (SELECT *, ${name} AS name, list_contains(${textList(shown)}, ${name}) AS shown FROM mine WHERE ${where})
     ASOF JOIN bars ON first_us >= start_us
     GROUP BY ALL`,
  )
  const { first, last } = await coverageOf(session)
  const isMeasured = ({ startUs, endUs }: Bar) =>
    first !== null && last !== null && endUs > first && startUs <= last
  const nowUs = us(nowMs)
  const lines = [
    ...shown.map((each) => ({ name: each, other: false })),
    ...(isRest ? [{ name: '', other: true }] : []),
  ]
  const series = lines.map((line) => {
    const own = new Map(
      rows
        .filter((row) => row.isOther === line.other && row.name === line.name)
        .map((row) => [row.bar, row]),
    )
    let total: string | null = '0'
    const values = bars.map((bar, at) => {
      const found = own.get(at)
      const value =
        found === undefined
          ? isMeasured(bar)
            ? '0'
            : null
          : priced(asked, metric, exact(found.value))
      if (query.cumulative === 'false') return value
      if (!isMeasured(bar)) return null
      total = total === null || value === null ? null : addDecimals(total, value)
      return total
    })
    return {
      name: line.name === '' ? null : nameOf(asked, by, line.name),
      other: line.other,
      values,
    }
  })
  return {
    bucket,
    bars: bars.map((bar) => ({
      start: timeIn(bar.startUs, period.timezone),
      end: timeIn(bar.endUs, period.timezone),
      open: bar.endUs > nowUs,
      measured: isMeasured(bar),
    })),
    series,
  }
}

const priced = ({ view }: Asked, metric: Metric, value: string | null) =>
  metric !== 'cost' || value === null ? value : (view.moneyOf(value)?.value ?? null)
