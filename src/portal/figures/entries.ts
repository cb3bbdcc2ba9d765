import { type Period, timeIn } from '../../measure/usage/calendar.ts'
import type { BillEntry } from '../../store/import/entry-types.ts'
import { type Asked, exact, type Input } from '../api/asked.ts'
import type { Answers } from '../api/shapes.ts'

/**
 * The lines of a bill that are no use, such as a tax or a fee, by kind and unit; and for each closed month, how much its use has changed since
 * it was closed (`my_closings`). Both belong to the whole account, so a filter by a name leaves none; a token of some keys has none in its
 * views.
 */
export async function readEntries(
  { session, bearer }: Pick<Asked, 'session' | 'bearer'>,
  { fromUs, toUs, timezone }: Pick<Period, 'fromUs' | 'toUs' | 'timezone'>,
  { model, key, endpoint, tag, outcome }: Input<'summary'>,
): Promise<Answers['summary']['entries']> {
  if ([model, key, endpoint, tag].some((names) => (names ?? []).length > 0)) return []
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
  // An entry has no outcome, so a filter by outcomes does not concern it. A change of a month is of requests with all outcomes.
  const isByOutcome = outcome.length > 0
  const closings = isByOutcome
    ? []
    : await session.rows<ChangeAfterClosing>(
        `SELECT month, unit, amount::VARCHAR AS amount, at_us FROM my_closings
         WHERE at_us >= ${fromUs} AND at_us < ${toUs} ORDER BY month, unit`,
      )
  const shown = <Row extends { readonly unit: string }>(some: readonly Row[]) =>
    some.filter(({ unit }) => bearer.shows.has(unit === 'credits' ? 'credits' : 'cost'))
  return [
    ...shown(rows).map(({ type, unit, amount, n }) => ({
      type,
      unit,
      value: exact(amount),
      entries: n,
      month: null,
      at: null,
    })),
    ...shown(closings).map(({ month, unit, amount, at_us }) => ({
      type: 'after-closing' as const,
      unit,
      value: exact(amount),
      entries: 1,
      month,
      at: timeIn(at_us, timezone),
    })),
  ]
}

interface ChangeAfterClosing {
  readonly month: string
  readonly unit: string
  readonly amount: string
  readonly at_us: number
}
