import { offsetChanges } from '../../measure/usage/zone.ts'
import { dayUs } from '../../user/durations.ts'
import { literal } from '../literal.ts'
import type { Session } from '../session/session.ts'
import type { RepeatedTime } from './cell-formats.ts'

interface LocalTimes {
  readonly timezone: string
  readonly ambiguous: RepeatedTime | null
  /** The width of sums without an end: `1d`. */
  readonly bucket: string | undefined
  /** SQL of what tells sums of one interval apart. */
  readonly series: readonly string[]
}

/**
 * Places local times that a clock change repeats or skips. If the file is in order of time, with lines before and after
 * the change, a step back of its clock shows where the second hour begins, and so does a sum over an interval that has one
 * already; else the first of the two moments counts. A
 * time that is skipped does not exist, and its line is rejected; but a day whose midnight is skipped begins after it.
 *
 * @returns notes for the reader
 */
export async function placeLocalTimes(
  session: Session,
  { timezone, ambiguous, bucket, series }: LocalTimes,
): Promise<readonly string[]> {
  if (timezone === 'UTC') return []
  const [range] = await session.rows<{ first: number | null; last: number }>(
    'SELECT min(wall_us) AS first, max(wall_us) AS last FROM staging.lines WHERE reason IS NULL',
  )
  if (range!.first === null) return []
  let repeated = 0
  let isByOrder = true
  for (const change of offsetChanges(range!.first - dayUs, range!.last + dayUs, timezone)) {
    const { atUs, beforeUs, afterUs } = change
    const [from, to] = [atUs + Math.min(beforeUs, afterUs), atUs + Math.max(beforeUs, afterUs)]
    const within = `reason IS NULL AND wall_us >= ${from} AND wall_us < ${to}`
    if (afterUs > beforeUs) {
      const isDay = bucket?.endsWith('d') === true
      const midnight = isDay ? `${within} AND wall_us % ${dayUs} = 0` : 'false'
      if (isDay) {
        await session.execute(
          `UPDATE staging.stored AS lines SET at_us = ${atUs} WHERE ${midnight}`,
        )
      }
      await reject(session, `${within} AND NOT (${midnight})`, `a time that exists in ${timezone}`)
      continue
    }
    const of = bucket === undefined ? `''` : `json_array(${series.join()})::VARCHAR`
    const rows = await session.rows<RepeatedLine>(
      `SELECT rowid AS line, wall_us, ${of} AS series FROM staging.lines WHERE ${within} ORDER BY rowid`,
    )
    if (rows.length === 0) continue
    repeated += rows.length
    if (ambiguous === 'reject') {
      await reject(session, within, `a time that occurs once in ${timezone}`)
      continue
    }
    const moved = (offsetUs: number) =>
      `UPDATE staging.stored AS lines SET at_us = wall_us - ${offsetUs}${
        // A sum over days ends on the local clock; a shorter one keeps its width.
        bucket === undefined || bucket.endsWith('d')
          ? ''
          : `, end_us = end_us + wall_us - ${offsetUs} - at_us`
      }`
    await session.execute(`${moved(beforeUs)} WHERE ${within}`)
    const second = await secondOf(session, rows, [from, to], ambiguous, bucket !== undefined)
    isByOrder &&= second !== null
    if (second !== null) await session.execute(`${moved(afterUs)} WHERE ${within} AND ${second}`)
  }
  if (repeated === 0) return []
  const are = repeated === 1 ? '1 line is' : `${repeated.toLocaleString('en-US')} lines are`
  const how =
    ambiguous === 'reject'
      ? 'rejected'
      : ambiguous === 'second'
        ? 'the second time counts'
        : isByOrder
          ? 'the order of the lines decides'
          : 'the first time counts'
  return [`${are} ambiguous: the time occurs twice in ${timezone}; ${how}`]
}

function reject(session: Session, where: string, expected: string): Promise<void> {
  return session.execute(
    `UPDATE staging.stored AS lines SET
       reason = ${literal(`time: expected ${expected}, got `)} || strftime(make_timestamp(wall_us), '%Y-%m-%d %H:%M:%S')
     WHERE ${where}`,
  )
}

interface RepeatedLine {
  readonly line: number
  readonly wall_us: number
  readonly series: string
}

/** The first sum over an interval that an earlier one of its series has. */
function repeatedSum(rows: readonly RepeatedLine[]): RepeatedLine | undefined {
  const seen = new Set<string>()
  return rows.find(({ wall_us, series }) => {
    const sum = `${wall_us} ${series}`
    if (seen.has(sum)) return true
    seen.add(sum)
    return false
  })
}

/** SQL for the repeated lines that are in the second hour; null if nothing shows that there are any. */
async function secondOf(
  session: Session,
  rows: readonly RepeatedLine[],
  [from, to]: readonly [number, number],
  ambiguous: Exclude<RepeatedTime, 'reject'> | null,
  isSums: boolean,
): Promise<string | null> {
  if (ambiguous !== null) return ambiguous === 'second' ? 'true' : null
  const [order] = await session.rows<{
    rising: boolean
    falling: boolean
    early: boolean
    late: boolean
  }>(
    `SELECT coalesce(bool_and(step >= 0), true) AS rising, coalesce(bool_and(step <= 0), true) AS falling,
       bool_or(wall_us < ${from}) AS early, bool_or(wall_us >= ${to}) AS late
     FROM (SELECT wall_us, wall_us - lag(wall_us) OVER (ORDER BY rowid) AS step FROM staging.lines
           WHERE reason IS NULL AND wall_us IS NOT NULL AND NOT (wall_us >= ${from} AND wall_us < ${to}))`,
  )
  const { rising, falling, early, late } = order!
  if (!early || !late || rising === falling) return null
  const turns = rows.filter(
    ({ wall_us }, at) =>
      at > 0 && (rising ? wall_us < rows[at - 1]!.wall_us : wall_us > rows[at - 1]!.wall_us),
  )
  const again = turns.length === 0 && isSums ? repeatedSum(rows) : undefined
  const turn = turns.length === 1 ? turns[0] : again
  return turn === undefined ? null : `rowid ${rising ? '>=' : '<'} ${turn.line}`
}
