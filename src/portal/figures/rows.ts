import type { Period } from '../../measure/usage/calendar.ts'
import { endOfDayUs, startOfDayUs } from '../../measure/usage/zone.ts'
import type { Session } from '../../store/session/session.ts'
import { hourUs } from '../../user/durations.ts'
import type { AccountView } from '../settings/account-view.ts'
import { dayView } from '../source/account-views.ts'
import { columnsOfDays, tableWith } from '../source/wide-sums.ts'

type Span = Pick<Period, 'fromUs' | 'toUs'>
type OfZone = { readonly view: Pick<AccountView, 'timezone'> }

/** Sums of an account by local day, by the hour and by quarters of an hour. */
interface Sums {
  readonly days: Parameters<typeof dayView>[0]
  readonly hours: string
  readonly quarters: string
}
const shown: Sums = { days: 'my_day_sums', hours: 'my_hours', quarters: 'mine' }
/** The same as they are now, also of closed months. */
export const useNow: Sums = { days: 'my_use_days', hours: 'my_use', quarters: 'my_use' }

/** SQL condition for rows that begin within one of these. */
export const inSql = (spans: readonly Span[]) =>
  `(${joined(spans)
    .map(({ fromUs, toUs }) => `first_us >= ${fromUs} AND first_us < ${toUs}`)
    .join(' OR ')})`

/** The same times, those that follow one another as one. */
function joined(spans: readonly Span[]): readonly Span[] {
  const all: Span[] = []
  for (const { fromUs, toUs } of spans.toSorted((a, b) => a.fromUs - b.fromUs)) {
    const last = all.at(-1)
    if (last === undefined || last.toUs < fromUs) all.push({ fromUs, toUs })
    else all[all.length - 1] = { fromUs: last.fromUs, toUs: Math.max(last.toUs, toUs) }
  }
  return all
}

/** SQL for rows of sums that have the names which some SQL reads. */
export type Rows = (reads: string) => string

/**
 * The fewest sums of the account that none of these moments is within: sums of its local days, and of the days that a moment
 * cuts those of hours, or of quarters of an hour.
 *
 * @param moments Unix microseconds
 */
export function rowsCutAt(
  { view: { timezone } }: OfZone,
  moments: readonly number[],
  { days, hours, quarters }: Sums = shown,
): Rows {
  const cut = daysCutAt(moments, timezone)
  const ends = cut.flatMap(({ fromUs, toUs }) => [fromUs, toUs])
  const narrow = [...moments, ...ends].every((us) => us % hourUs === 0) ? hours : quarters
  return (reads) => {
    const table = tableWith(reads)
    const wide = dayView(days, table)
    if (cut.length === 0) return wide
    const columns = `SELECT ${columnsOfDays(table)} FROM`
    return `(${columns} ${wide} WHERE NOT ${inSql(cut)} UNION ALL ${columns} ${narrow} WHERE ${inSql(cut)})`
  }
}

/** All sums of the account by day. */
export const allDays: Rows = (reads) => dayView(shown.days, tableWith(reads))

/** The sums of hours, or of quarters of an hour where a moment is no whole hour. */
export const hoursCutAt = (moments: readonly number[]): string =>
  moments.every((us) => us % hourUs === 0) ? shown.hours : shown.quarters

/** The local days that a moment is within, joined where one follows another. */
const daysCutAt = (moments: readonly number[], timezone: string): readonly Span[] =>
  joined(
    [...new Set(moments)].flatMap((us) => {
      const day = dayOf(us, timezone)
      return day.fromUs === us ? [] : [day]
    }),
  )

/** Questions ask for the same days again and again. */
const knownDays = new Map<string, Span>()
const mostKnownDays = 10_000

function dayOf(us: number, timezone: string): Span {
  const key = `${us} ${timezone}`
  const known = knownDays.get(key)
  if (known !== undefined) return known
  const day = { fromUs: startOfDayUs(us, timezone), toUs: endOfDayUs(us, timezone) }
  if (knownDays.size >= mostKnownDays) knownDays.clear()
  knownDays.set(key, day)
  return day
}

/** The sums of a period: their rows, and the SQL condition on them. @param bars starts of bars */
export const within = (
  asked: OfZone,
  period: Span,
  condition = 'true',
  bars: readonly number[] = [],
) => ({
  from: rowsCutAt(asked, [period.fromUs, period.toUs, ...bars]),
  where: `${inSql([period])} AND (${condition})`,
})

/** The results of queries that a session asked before: parts of a page ask the same. */
const answered = new WeakMap<object, Map<string, Promise<readonly unknown[]>>>()

/** The rows of a query over the sums, which are the same as long as the session lasts. */
export function rowsOnce<Row>(session: Session, sql: string): Promise<readonly Row[]> {
  const answers = answered.get(session) ?? new Map<string, Promise<readonly unknown[]>>()
  answered.set(session, answers)
  const asked = answers.get(sql) as Promise<readonly Row[]> | undefined
  if (asked !== undefined) return asked
  const rows = session.rows<Row>(sql)
  answers.set(sql, rows)
  // A query that failed, such as one that was interrupted, is asked again.
  rows.catch(() => answers.delete(sql))
  return rows
}

interface Coverage {
  readonly first: number | null
  readonly last: number | null
  readonly width: number
}

export async function coverageOf(session: Session): Promise<Coverage> {
  const [row] = await rowsOnce<Coverage>(
    session,
    'SELECT min(first_us) AS first, max(last_us) AS last, coalesce(max(width_us), 0)::BIGINT // 1000000 AS width FROM my_days',
  )
  return row!
}
