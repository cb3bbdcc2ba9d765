import { userError } from '../../user/user-error.ts'
import type { Session } from '../session/session.ts'
import { stagedCredits } from './staged-credits.ts'

/** More widths than an export of sums has: each line has an interval of its own. */
const mostWidths = 8
const mostIntervals = 100_000

/** Hours between two times, with days, months and quarters of the calendar as one width each. */
const hours = `round((end_us - at_us) / 3600e6, 3)`
const width = `CASE WHEN ${hours} BETWEEN 23 AND 25 THEN 24 WHEN ${hours} BETWEEN 671 AND 745 THEN 720
  WHEN ${hours} BETWEEN 2159 AND 2209 THEN 2160 ELSE ${hours} END`

/**
 * Sums of several widths state the same use more than once, so one width counts. An amount that is not the sum of the
 * narrower ones within it is no such sum, but a charge beside them, such as a monthly fee: which of the two is meant must be said.
 *
 * @throws UserError for a file with such an amount
 */
export async function refuseMixedWidths(session: Session, file: string): Promise<void> {
  await session.execute(`CREATE TABLE staging.amounts AS
    SELECT at_us, end_us, unit, ${width} AS width, sum(${stagedCredits})::DOUBLE AS amount FROM staging.lines
    WHERE reason IS NULL AND end_us IS NOT NULL AND ${stagedCredits} IS NOT NULL AND coalesce(type, 'usage') = 'usage'
    GROUP BY ALL`)
  const [size] = await session.rows<{ widths: number; intervals: number }>(
    'SELECT count(DISTINCT width) AS widths, count(*) AS intervals FROM staging.amounts',
  )
  const { widths, intervals } = size!
  if (widths < 2 || widths > mostWidths || intervals > mostIntervals) return
  const [found] = await session.rows<{ from: string; to: string; amount: number; unit: string }>(`
    WITH within AS (
      SELECT wide.at_us, wide.end_us, wide.unit, wide.amount, sum(narrow.amount) AS inner_sum
      FROM staging.amounts AS wide JOIN staging.amounts AS narrow
        ON narrow.unit = wide.unit AND narrow.at_us >= wide.at_us AND narrow.end_us <= wide.end_us
       AND narrow.width < wide.width
      GROUP BY wide.at_us, wide.end_us, wide.unit, wide.amount, narrow.width)
    SELECT strftime(make_timestamp(at_us), '%Y-%m-%d %H:%M') AS "from", strftime(make_timestamp(end_us), '%Y-%m-%d %H:%M') AS "to",
      amount, unit FROM within
    GROUP BY at_us, end_us, unit, amount
    HAVING NOT bool_or(abs(inner_sum - amount) <= 0.01 * abs(amount)) ORDER BY at_us LIMIT 1`)
  if (found === undefined) return
  throw userError.import(
    `${file}: ${found.amount} ${found.unit} from ${found.from} to ${found.to} UTC is not the sum of the narrower amounts within that time. If it is a charge beside them, such as a monthly fee, write \`amounts: disjoint\` in the mapping, and all amounts are added. If it is a total, leave it out with \`where\`, or import it from a file of its own.`,
  )
}
