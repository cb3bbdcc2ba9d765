import { literal } from '../store/literal.ts'
import {
  type Asked,
  conditionOf,
  dimensionSql,
  exact,
  type Input,
  nameOf,
  neededBy,
  needs,
  periodAsked,
  within,
} from './asked.ts'
import { cursorAt, skipOf } from './cursor.ts'
import { barsOf, timeIn } from './period.ts'
import type { Answers } from './shapes.ts'
import { moneyIn, moneyOf, requestsSql, valueSql } from './sums.ts'

export async function readBreakdown(
  asked: Asked,
  query: Input<'breakdown'>,
): Promise<Answers['breakdown']> {
  const { session, view, bearer } = asked
  const { by, sort, limit } = query
  for (const each of [by, sort]) {
    if (each === 'credits' && query.sort === 'credits') continue
    if (neededBy[each] !== undefined) needs(asked, neededBy[each])
  }
  const period = periodAsked(query, view)
  const where = `${within(period)} AND ${await conditionOf(asked, query)}`
  const skip = skipOf(query.cursor)
  const days = by === 'day' ? barsOf(period, 'day') : []
  const source =
    by === 'day'
      ? `(SELECT * FROM mine WHERE ${where}) ASOF JOIN (SELECT unnest([${days.map((bar) => bar.startUs).join()}]::BIGINT[]) AS start_us) ON first_us >= start_us`
      : `mine WHERE ${where}`
  const name = by === 'day' ? 'start_us::VARCHAR' : dimensionSql(by)
  const canSort = sort === 'credits' && !bearer.shows.has('credits') ? 'requests' : sort
  const order = {
    ...{
      credits: 'credits_sum DESC NULLS LAST',
      cost: 'credits_sum DESC NULLS LAST',
      requests: 'n DESC',
    },
    ...{ tokens: '(coalesce(input, 0) + coalesce(output, 0)) DESC', name: 'name' },
  }[canSort]
  const columns = `${requestsSql} AS n, ${valueSql.credits} AS credits_sum, ${valueSql.credits}::VARCHAR AS credits,
    sum(prompt_tokens)::BIGINT AS input, sum(completion_tokens)::BIGINT AS output,
    coalesce(sum(requests) FILTER (WHERE outcome <> 'ok'), 0)::BIGINT AS failed`
  interface Sums {
    readonly name: string | null
    readonly n: number
    readonly credits: string | null
    readonly input: number | null
    readonly output: number | null
    readonly failed: number
  }
  const rows = await session.rows<Sums>(
    `SELECT ${name} AS name, ${columns} FROM ${source} GROUP BY name ORDER BY ${order}, name NULLS LAST
     LIMIT ${limit + 1} OFFSET ${skip}`,
  )
  const [all] = await session.rows<Sums>(`SELECT NULL AS name, ${columns} FROM mine WHERE ${where}`)
  const shown = bearer.shows
  const rowOf = async (sums: Sums, isTotal: boolean) => {
    const own =
      isTotal || by === 'day'
        ? where
        : `${where} AND ${dimensionSql(by)} IS NOT DISTINCT FROM ${sums.name === null ? 'NULL' : literal(sums.name)}`
    const units = shown.has('cost') && by !== 'day' ? await moneyIn(asked, own) : []
    return {
      name:
        sums.name === null
          ? null
          : by === 'day'
            ? timeIn(Number(sums.name), period.timezone).slice(0, 10)
            : nameOf(asked, by, sums.name),
      requests: sums.n,
      credits: shown.has('credits') ? exact(sums.credits) : null,
      cost: moneyOf(asked, units),
      ...{ input: sums.input, output: sums.output, failed: sums.failed },
    }
  }
  const made = []
  for (const each of rows.slice(0, limit)) made.push(await rowOf(each, false))
  return {
    rows: made,
    total: await rowOf(all!, true),
    next: rows.length > limit ? cursorAt(skip + limit) : null,
  }
}
