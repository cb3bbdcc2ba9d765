import { textList } from '../store/literal.ts'
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
  const listed = rows.slice(0, limit)
  const moneyOfNames = await moneyByName(asked, name, source, listed)
  const moneyOfAll = await moneyIn(asked, where)
  const rowOf = (sums: Sums, units: readonly AmountOfUnit[]) => ({
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
  })
  return {
    rows: listed.map((each) => rowOf(each, moneyOfNames.get(each.name) ?? [])),
    total: rowOf(all!, moneyOfAll),
    next: rows.length > limit ? cursorAt(skip + limit) : null,
  }
}

interface AmountOfUnit {
  readonly unit: string
  readonly amount: string
}

/** Amounts of the listed names by unit, in one query; none if the token does not show costs. */
async function moneyByName(
  { bearer, session }: Asked,
  name: string,
  source: string,
  listed: readonly { readonly name: string | null }[],
): Promise<ReadonlyMap<string | null, readonly AmountOfUnit[]>> {
  const amounts = new Map<string | null, AmountOfUnit[]>()
  if (!bearer.shows.has('cost')) return amounts
  const names = textList(listed.flatMap((each) => each.name ?? []))
  const rows = await session.rows<AmountOfUnit & { readonly name: string | null }>(
    `SELECT * FROM (
       SELECT ${name} AS name, unit, sum(credits)::VARCHAR AS amount FROM ${source} GROUP BY ALL)
     WHERE amount IS NOT NULL AND (name IS NULL OR list_contains(${names}, name)) ORDER BY unit`,
  )
  for (const each of rows) amounts.set(each.name, [...(amounts.get(each.name) ?? []), each])
  return amounts
}
