import { existsSync, rmSync } from 'node:fs'
import { BatchAppender } from './batch-appender.ts'
import { journalPath, readJournal } from './journal.ts'
import type { Store } from './open.ts'

/**
 * Gives DuckDB the rows that a killed process left in the journal. DuckDB has a first part of them,
 * of a length that can be counted, so none is lost and none is there twice; not even when this is
 * killed, too.
 */
export async function recover(store: Store): Promise<void> {
  const path = journalPath(store.path)
  if (store.path === ':memory:' || !existsSync(path)) return
  const journal = readJournal(path)
  try {
    const [row] = await store.rows<{ n: number }>(
      'SELECT count(*)::BIGINT AS n FROM all_rows WHERE asking >= $1',
      [journal.firstAsking],
    )
    const appender = await BatchAppender.open(store, null)
    for (const record of journal.records) {
      const known = row!.n - record.place
      if (known < record.rows) appender.appendNumbered(record, Math.max(0, known))
    }
    appender.close()
  } finally {
    journal.close()
  }
  rmSync(path)
}
