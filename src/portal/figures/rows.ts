import type { Period } from '../../measure/usage/calendar.ts'
import { groupColumns, quantities, quarterUs, sumColumns } from '../../measure/usage/quantities.ts'
import type { Session } from '../../store/session/session.ts'
import type { Asked } from '../api/asked.ts'

/** The sums of an account that a question reads, from wide rows to narrow ones: `my_parts` once `inParts` made it. */
type Rows = 'my_parts' | 'my_hours' | 'mine'

const hourUs = 3600e6
const dayUs = 86_400e6

/**
 * The widest rows that give exact sums of a period: those that nothing of it begins or ends within.
 *
 * @param starts of bars
 */
export function sumsWithin(
  { parts }: Pick<Asked, 'parts'>,
  { fromUs, toUs }: Pick<Period, 'fromUs' | 'toUs'>,
  starts: readonly number[] = [],
): Rows {
  const moments = [fromUs, toUs, ...starts]
  if (parts !== undefined && moments.every((each) => parts.has(each))) return 'my_parts'
  return moments.every((each) => each % hourUs === 0) ? 'my_hours' : 'mine'
}

/** The sums of a period: their rows, and the SQL condition on them. @param bars starts of bars */
export const within = (
  asked: Pick<Asked, 'parts'>,
  period: Pick<Period, 'fromUs' | 'toUs'>,
  condition = 'true',
  bars: readonly number[] = [],
) => ({
  from: sumsWithin(asked, period, bars),
  where: `first_us >= ${period.fromUs} AND first_us < ${period.toUs} AND ${condition}`,
})

/** What no answer tells apart. */
const untold = ['source', 'quarter', 'width_us', 'account', 'error_code']
const groups = groupColumns.filter((name) => !untold.includes(name)).join(', ')
const summed = Object.keys(quantities).filter(
  (name) => !groupColumns.includes(name) && name !== 'minutes',
)

/**
 * Sums the account once for a page of many questions: rows of the time between two of these moments are one row for each group. A
 * question whose period and bars begin and end at such moments then reads `my_parts`. A moment that is no whole hour cuts nothing where days
 * are whole hours, and one within a quarter of an hour never does: a question about it reads what it read before.
 *
 * @param days starts of local days, Unix microseconds
 * @param others the starts and ends of other questions
 */
export async function inParts(
  asked: Asked,
  days: readonly number[],
  others: readonly number[],
): Promise<Asked> {
  const isByHour = days.every((each) => each % hourUs === 0)
  const from = isByHour ? 'my_hours' : 'mine'
  const cuts = [...days, ...others].filter((each) => each % (isByHour ? hourUs : quarterUs) === 0)
  const parts = new Set(cuts.sort((a, b) => a - b))
  // Each quarter of an hour finds its part once, not each of its rows.
  await asked.session.execute(`
    CREATE TEMP TABLE my_parts AS
    WITH times AS (
      SELECT quarter, part_us FROM (SELECT DISTINCT quarter FROM ${from})
      ASOF LEFT JOIN (SELECT unnest([${[...parts].join()}]::BIGINT[]) AS part_us) ON quarter * ${quarterUs} >= part_us)
    SELECT min(quarter) AS quarter, greatest(max(width_us), ${dayUs})::BIGINT AS width_us, ${groups}, ${sumColumns(summed)}
    FROM ${from} JOIN times USING (quarter) GROUP BY part_us, ${groups}`)
  return { ...asked, parts }
}

/** The results of queries that a session asked before: parts of a page ask the same. */
const answered = new WeakMap<object, Map<string, Promise<readonly unknown[]>>>()

/** The rows of a query over the sums, which are the same as long as the session lasts. */
export function rowsOnce<Row>(session: Session, sql: string): Promise<readonly Row[]> {
  const known = answered.get(session) ?? new Map<string, Promise<readonly unknown[]>>()
  answered.set(session, known)
  const rows = known.get(sql) ?? session.rows(sql)
  known.set(sql, rows)
  return rows as Promise<readonly Row[]>
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
