import { timeIn } from '../../measure/usage/calendar.ts'
import { requestsOf, type Sums } from '../../measure/usage/sums.ts'
import { eachToken } from '../../tokens/kinds.ts'
import {
  type Asked,
  conditionOf,
  dimensionSql,
  type Input,
  nameOf,
  needsEach,
  periodAsked,
} from '../api/asked.ts'
import { cursorAt, skipOf } from '../api/cursor.ts'
import { barsAsked } from '../api/period.ts'
import type { Answers } from '../api/shapes.ts'
import { readBefore } from './names-before.ts'
import { within } from './rows.ts'
import { creditsOf, failedOf, moneyOf, orderSql, readSums, unitOf, withoutRefunds } from './sums.ts'

/** SQL over rows of `sumsSql`: refunds, and no request. */
const refundsAloneSql = `coalesce(requests, 0) = 0 AND coalesce("requestsUnknown", 0) = 0
  AND len(amounts) > 0 AND list_bool_and([coalesce(each.used = each.refunds, false) FOR each IN amounts])`

/** The use of a period by day or by a dimension: one page of rows, sorted. Refunds that belong to no row are shown beside the rows. */
export async function readBreakdown(
  asked: Asked,
  query: Input<'breakdown'>,
): Promise<Answers['breakdown']> {
  const { view, bearer } = asked
  const { by, sort, limit } = query
  needsEach(asked, sort === 'credits' ? [by] : [by, sort])
  const period = periodAsked(query, view)
  const condition = await conditionOf(asked, query)
  const skip = skipOf(query.cursor)
  const days = by === 'day' ? barsAsked(period, 'day').map((bar) => bar.startUs) : []
  const { from, where } = within(asked, period, condition, days)
  const groups = by === 'day' ? { bars: days } : { by: { name: dimensionSql(by) } }
  const name = by === 'day' ? 'bar' : 'name'
  // Without its credits, an order of them would tell a token what it may not see.
  const sortShown = sort === 'credits' && !bearer.shows.has('credits') ? 'requests' : sort
  const { unit } = await unitOf(asked, sortShown, period, query.unit)
  const order = sortShown === 'name' ? name : `${orderSql(asked, sortShown, unit)} DESC NULLS LAST`
  interface Group {
    readonly name: string | null
    readonly bar: number
  }
  // A refund may name no model, key or endpoint, and it never has an outcome.
  const namelessSql = (column: string) =>
    by === 'day' ? 'false' : by === 'outcome' ? 'true' : `${column} IS NULL`
  const rows = await readSums<Group>(
    asked,
    { from, where, ...groups },
    `WHERE NOT (${namelessSql('name')} AND ${refundsAloneSql}) ORDER BY ${order}, ${name} NULLS LAST LIMIT ${limit + 1} OFFSET ${skip}`,
  )
  const [all] = await readSums<object>(asked, { from, where })
  const ofNone = by === 'day' ? 'false' : namelessSql(dimensionSql(by))
  const [nameless] = await readSums<object>(asked, { from, where: `${where} AND ${ofNone}` })
  const shown = bearer.shows
  const page = rows.slice(0, limit)
  const beforeOf =
    by === 'day'
      ? null
      : await readBefore(
          asked,
          dimensionSql(by),
          period,
          condition,
          page.map((each) => each.name),
        )
  const usedOf = (sums: Pick<Sums, 'requests' | 'requestsUnknown' | 'amounts'>) => ({
    requests: requestsOf(sums),
    credits: shown.has('credits') ? creditsOf(sums) : null,
    cost: moneyOf(asked, sums),
  })
  /** A row without a name has no refunds, which stand beside the rows. */
  const ofRow = <Row extends Pick<Sums, 'amounts'>>(name: string | null, sums: Row): Row =>
    by === 'outcome' || (by !== 'day' && name === null) ? withoutRefunds(sums) : sums
  const comparedOf = (name: string | null) => {
    if (beforeOf === null) return { previous: null, new: null }
    const { sums, isNew } = beforeOf(name)
    // An account without credits has none of them before, either.
    const credits = usedOf(all!).credits === null ? null : '0'
    const nothing = { requests: 0, credits, cost: [] }
    return { previous: sums === null ? nothing : usedOf(ofRow(name, sums)), new: isNew }
  }
  const figuresOf = (sums: Sums) => ({
    ...usedOf(sums),
    ...eachToken((name) => sums[name]),
    failed: failedOf(sums),
  })
  return {
    rows: page.map((each) => ({
      name:
        by === 'day'
          ? timeIn(days[each.bar]!, period.timezone).slice(0, 10)
          : each.name === null
            ? null
            : nameOf(asked, by, each.name),
      ...figuresOf(ofRow(each.name, each)),
      ...comparedOf(each.name),
    })),
    refunds: {
      credits: shown.has('credits') ? creditsOf(nameless!, 'refunds') : null,
      cost: moneyOf(asked, nameless!, 'refunds'),
    },
    total: { name: null, ...figuresOf(all!) },
    next: rows.length > limit ? cursorAt(skip + limit) : null,
  }
}
