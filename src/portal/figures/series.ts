import { type Bar, fittingWidth, timeIn } from '../../measure/usage/calendar.ts'
import { textList } from '../../store/literal.ts'
import {
  type Asked,
  conditionOf,
  dimensionSql,
  type Input,
  nameOf,
  needsEach,
  periodAsked,
  us,
} from '../api/asked.ts'
import { barsAsked } from '../api/period.ts'
import type { Answers } from '../api/shapes.ts'
import { coverageOf, within } from './rows.ts'
import { metricOf, orderSql, plus, readSums, unitOf } from './sums.ts'

const mostSeries = 10

/** Sums of each bar and name; names beyond the largest are null in `name` with `other`. */
export async function readSeries(asked: Asked, query: Input<'series'>): Promise<Answers['series']> {
  const { session, view, nowMs } = asked
  const { by, metric } = query
  needsEach(asked, [by, metric])
  const period = periodAsked(query, view)
  const condition = await conditionOf(asked, query)
  const { unit, units } = await unitOf(asked, metric, period, query.unit)
  const bucket = query.bucket === 'auto' ? fittingWidth(period, view.firstWeekday) : query.bucket
  const bars = barsAsked(period, bucket, view.firstWeekday)
  const name = by === 'none' ? `''` : `coalesce(${dimensionSql(by)}, '')`
  const starts = bars.map(({ startUs }) => startUs)
  const { from, where } = within(asked, period, condition, starts)
  const top = await readSums<{ readonly name: string }>(
    asked,
    { from, where, by: { name } },
    `ORDER BY ${orderSql(asked, metric, unit)} DESC NULLS LAST, name LIMIT ${mostSeries + 1}`,
  )
  const shown = (top.length > mostSeries ? top.slice(0, mostSeries - 1) : top).map(
    (each) => each.name,
  )
  const isRest = top.length > mostSeries
  const rows = await readSums<{
    readonly bar: number
    readonly name: string
    readonly isOther: boolean
  }>(asked, {
    from: `(SELECT *, ${name} AS name_, list_contains(${textList(shown)}, ${name}) AS is_shown FROM ${from(`${name} ${where}`)} WHERE ${where})`,
    by: { name: `CASE WHEN is_shown THEN name_ ELSE '' END`, isOther: 'NOT is_shown' },
    bars: starts,
  })
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
        found === undefined ? (isMeasured(bar) ? '0' : null) : metricOf(asked, found, metric, unit)
      if (query.cumulative === 'false') return value
      if (!isMeasured(bar)) return null
      total = total === null || value === null ? null : plus(total, value)
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
    unit,
    units: [...units],
    bars: bars.map((bar) => ({
      start: timeIn(bar.startUs, period.timezone),
      end: timeIn(bar.endUs, period.timezone),
      open: bar.endUs > nowUs,
      measured: isMeasured(bar),
    })),
    series,
  }
}
