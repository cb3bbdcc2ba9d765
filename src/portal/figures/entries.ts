import { type Period, timeIn } from '../../measure/usage/calendar.ts'
import type { BillEntry } from '../../store/import/entry-types.ts'
import { type Asked, exact, type Input, shownFor } from '../api/asked.ts'
import type { Answers } from '../api/shapes.ts'
import { rowsOnce } from './rows.ts'

/**
 * The lines of a bill that are no use, such as a tax or a fee, by kind and unit; and for each closed month, how much its use has changed since
 * it was closed (`my_closings`). Both belong to the whole account, so a filter by a name leaves none; a token of some keys has none in its
 * views.
 */
export async function readEntries(
  asked: Pick<Asked, 'session' | 'bearer'>,
  period: Period,
  query: Input<'summary'>,
): Promise<Answers['summary']['entries']> {
  if (isOfNames(query)) return []
  const { session, bearer } = asked
  const { fromUs, toUs, timezone } = period
  const rows = await session.rows<{
    type: BillEntry
    unit: string
    amount: string | null
    n: number
  }>(
    `SELECT type, unit, sum(amount)::VARCHAR AS amount, sum(entries)::INTEGER AS n FROM my_entries
     WHERE at_us >= ${fromUs} AND at_us < ${toUs}
     GROUP BY type, unit ORDER BY type, unit`,
  )
  return [
    ...shown(bearer, rows).map(({ type, unit, amount, n }) => ({
      type,
      unit,
      value: exact(amount),
      entries: n,
      month: null,
      at: null,
    })),
    ...(await closingsOf(asked, timezone, query)).filter((each) => isIn(each, period)),
  ]
}

/** What came after a closed month of the period was closed, and stands in a later one. */
export async function readLater(
  asked: Pick<Asked, 'session' | 'bearer' | 'view'>,
  period: Period,
  query: Input<'summary'>,
): Promise<AfterClosing[]> {
  const { closed } = asked.view
  const names = closed
    .filter(({ fromUs, toUs }) => fromUs < period.toUs && toUs > period.fromUs)
    .map(({ month }) => month)
  if (names.length === 0) return []
  const all = await closingsOf(asked, period.timezone, query)
  return all.filter((each) => names.includes(each.month) && !isIn(each, period))
}

const isIn = ({ at }: AfterClosing, { fromUs, toUs }: Pick<Period, 'fromUs' | 'toUs'>) => {
  const us = Date.parse(at) * 1000
  return us >= fromUs && us < toUs
}

/** How much the use of each closed month has changed, of requests with all names and outcomes: a filter leaves none. */
const closingsOf = async (
  asked: Pick<Asked, 'session' | 'bearer'>,
  timezone: string,
  query: Input<'summary'>,
): Promise<AfterClosing[]> =>
  query.outcome.length > 0 || isOfNames(query) ? [] : readClosings(asked, timezone)

/** The same of the whole account. */
export async function readClosings(
  { session, bearer }: Pick<Asked, 'session' | 'bearer'>,
  timezone: string,
): Promise<AfterClosing[]> {
  const rows = await rowsOnce<{
    readonly month: string
    readonly unit: string
    readonly amount: string
    readonly at_us: number
  }>(
    session,
    `SELECT month, unit, amount::VARCHAR AS amount, at_us FROM my_closings
     WHERE at_us IS NOT NULL ORDER BY month, unit`,
  )
  return shown(bearer, rows).map(({ month, unit, amount, at_us }) => ({
    type: 'after-closing',
    unit,
    value: exact(amount),
    entries: 1,
    month,
    at: timeIn(at_us, timezone),
  }))
}

export type AfterClosing = Answers['summary']['later'][number]

const isOfNames = ({ model, key, endpoint, tag }: Input<'summary'>) =>
  [model, key, endpoint, tag].some((names) => (names ?? []).length > 0)

const shown = <Row extends { readonly unit: string }>(
  { shows }: Asked['bearer'],
  some: readonly Row[],
) => some.filter(({ unit }) => shows.has(shownFor(unit)))
