import { existsSync, renameSync, rmSync } from 'node:fs'
import { counted } from '../../user/grouped.ts'
import type { Session } from '../session/session.ts'
import { BatchAppender } from './batch-appender.ts'
import { type FoundJournal, journalPath, type NumberedRows, readJournal } from './journal.ts'

/**
 * Gives DuckDB the rows in the journal of a killed process: every complete record, all or nothing. DuckDB already has
 * a prefix of the rows, whose length can be counted, so no row is stored twice.
 *
 * A complete journal is removed. A journal that is damaged or belongs to another store is renamed and never deleted.
 */
export async function recover(session: Session): Promise<void> {
  const path = journalPath(session.path)
  if (session.path === ':memory:' || !existsSync(path)) return
  const journal = readJournal(path)
  const { taken, strangers } = await takeIn(session, journal)
  // A journal begins with its head, so an empty one has lost what it held.
  const whole = !journal.isEmpty && journal.bytesLost === 0 && strangers === 0
  const lost = journal.rowsLost + strangers
  const kept = whole ? null : setAside(path)
  if (whole) rmSync(path)
  if (taken === 0 && whole) return
  const words = [
    `${counted(taken, 'row')} of a killed run ${taken === 1 ? 'was' : 'were'} taken from ${path}`,
  ]
  if (kept !== null) {
    words.push(
      strangers > 0
        ? `; the store lacks what ${strangers} rows belong to, as when its .wal file is gone`
        : '',
      journal.isEmpty ? '; it is empty, and nobody knows what it held' : '',
      journal.bytesLost > 0
        ? `; ${journal.bytesLost} bytes, of ${lost === 0 ? 'a number of rows that nobody knows' : `${lost} rows or more`}, are damaged or cut off`
        : '',
      `. The file is kept as ${kept}`,
    )
  }
  process.stderr.write(`${words.join('')}.\n`)
}

/** @returns the number of rows that DuckDB took, and of rows with unknown shared values */
async function takeIn(
  session: Session,
  { from, records }: FoundJournal,
): Promise<{ readonly taken: number; readonly strangers: number }> {
  if (from === null) return { taken: 0, strangers: 0 }
  const [known] = await session.rows<{
    rows: number
    request_kinds: number
    endings: number
    before: boolean
  }>(
    `SELECT (SELECT count(*) FROM all_rows WHERE request_kind >= $1)::BIGINT AS rows,
       (SELECT coalesce(max(request_kind), -1) FROM request_kinds) AS request_kinds,
       (SELECT coalesce(max(ending), -1) FROM endings) AS endings,
       EXISTS (FROM recovered_journals WHERE id = $2) AS before`,
    [from.firstRequestKind, from.id],
  )
  const isKnown = ({ rows, request_kinds, endings }: NumberedRows) =>
    highest(request_kinds, rows) <= known!.request_kinds && highest(endings, rows) <= known!.endings
  let [taken, strangers] = [0, 0]
  await session.execute('BEGIN')
  try {
    const appender = await BatchAppender.open(session, null)
    for (const record of records) {
      const rows = record.unpack()
      const first = Math.max(0, known!.rows - record.place)
      if (!isKnown(rows)) strangers += record.rows
      // If the process was killed after the commit but before the file's removal, the journal was taken in before.
      else if (first < record.rows && !known!.before) {
        appender.appendNumbered(rows, first)
        taken += record.rows - first
      }
    }
    appender.close()
    await session.execute('DELETE FROM recovered_journals')
    await session.execute('INSERT INTO recovered_journals VALUES ($1)', [from.id])
    await session.execute('COMMIT')
  } catch (error) {
    await session.execute('ROLLBACK').catch(() => {})
    throw error
  }
  return { taken, strangers }
}

const highest = (numbers: Int32Array, rows: number) =>
  numbers.subarray(0, rows).reduce((most, number) => Math.max(most, number), -1)

/** Renames the file to an unused name. */
function setAside(path: string): string {
  for (let nth = 1; ; nth++) {
    const aside = `${path}${nth === 1 ? '' : `-${nth}`}.damaged`
    if (existsSync(aside)) continue
    renameSync(path, aside)
    return aside
  }
}
