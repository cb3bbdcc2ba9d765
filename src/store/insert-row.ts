import { DuckDBTimestampValue, type DuckDBValue } from '@duckdb/node-api'
import type { Session } from './session/session.ts'

/** Enters one row of a table by the names of its columns; the others are null. */
export function insertRow(
  store: Pick<Session, 'execute'>,
  table: string,
  row: Readonly<Record<string, DuckDBValue>>,
): Promise<void> {
  const names = Object.keys(row)
  return store.execute(
    `INSERT INTO ${table} (${names.join()}) VALUES (${names.map((_, at) => `$${at + 1}`).join()})`,
    Object.values(row),
  )
}

/** A moment, Unix microseconds, as a TIMESTAMP. */
export const timestampOf = (us: number) => new DuckDBTimestampValue(BigInt(Math.round(us)))
