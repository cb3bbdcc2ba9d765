import type { Period } from '../../measure/usage/calendar.ts'
import type { BillEntry } from '../../store/import/entry-types.ts'
import { type Asked, exact, type Input } from '../api/asked.ts'
import type { Answers } from '../api/shapes.ts'

/**
 * What a bill has beside its use, such as a tax or a fee, by kind and unit. An entry is of the whole account: a filter by a name, and a
 * token of some keys, leave none.
 */
export async function readEntries(
  { session, bearer }: Pick<Asked, 'session' | 'bearer'>,
  { fromUs, toUs }: Pick<Period, 'fromUs' | 'toUs'>,
  { model, key, endpoint, tag }: Input<'summary'>,
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
  return rows
    .filter(({ unit }) => bearer.shows.has(unit === 'credits' ? 'credits' : 'cost'))
    .map(({ type, unit, amount, n }) => ({ type, unit, value: exact(amount), entries: n }))
}
