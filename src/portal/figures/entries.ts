import { type Period, timeIn } from '../../measure/usage/calendar.ts'
import type { BillEntry } from '../../store/import/entry-types.ts'
import { type Asked, exact, type Input } from '../api/asked.ts'
import type { Answers } from '../api/shapes.ts'

/**
 * What a bill has beside its use, such as a tax or a fee, by kind and unit; and what came after a month was closed. An entry is of the whole account: a filter by a name, and a
 * token of some keys, leave none.
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
  const isFiltered = outcome.length > 0
  const closings = isFiltered
    ? []
    : await session.rows<Closing>(
        `SELECT month, unit, amount::VARCHAR AS amount, requests, at_us FROM my_closings
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

interface Closing {
  readonly month: string
  readonly unit: string
  readonly amount: string
  readonly requests: number
  readonly at_us: number
}
