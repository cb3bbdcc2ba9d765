import {
  type DuckDBAppender,
  DuckDBBlobValue,
  DuckDBDataChunk,
  DuckDBTimestampValue,
  type DuckDBType,
  DuckDBTypeId,
  type DuckDBValue,
} from '@duckdb/node-api'
import type { Session } from './session/session.ts'

/** Enters one row of a table by the names of its columns; the others are null. */
export function insertRow(
  session: Pick<Session, 'execute'>,
  table: string,
  row: Readonly<Record<string, DuckDBValue>>,
): Promise<void> {
  const names = Object.keys(row)
  return session.execute(
    `INSERT INTO ${table} (${names.join()}) VALUES (${names.map((_, at) => `$${at + 1}`).join()})`,
    Object.values(row),
  )
}

/** Enters many rows of a table by the names of its columns; the others are null. @param rows their cells, in the order of the names */
export async function insertRows(
  session: Pick<Session, 'createAppender' | 'rows'>,
  table: string,
  names: readonly string[],
  rows: readonly (readonly RowCell[])[],
): Promise<void> {
  const columns = await session.rows<{ name: string }>(
    `SELECT column_name AS name FROM (DESCRIBE ${table})`,
  )
  const known = columns.map(({ name }) => name)
  const strange = names.filter((name) => !known.includes(name))
  if (strange.length > 0) throw new Error(`${table} has no column ${strange.join(', ')}`)
  const places = known.map((name) => names.indexOf(name))
  const cellsOf = (row: readonly RowCell[]) => places.map((at) => row[at] ?? null)
  const appender = await session.createAppender(table)
  const types = columnTypesOf(appender)
  for (let from = 0; from < rows.length; from += chunkRows) {
    appender.appendDataChunk(chunkOf(types, rows.slice(from, from + chunkRows).map(cellsOf)))
  }
  appender.closeSync()
}

/** Rows of a chunk that DuckDB takes at most. */
const chunkRows = 2048

/** A cell before it has the type of its column: whole numbers may be numbers. */
export type RowCell = string | number | boolean | Uint8Array | null

export const columnTypesOf = (appender: DuckDBAppender): readonly DuckDBType[] =>
  Array.from({ length: appender.columnCount }, (_, at) => appender.columnType(at))

export function chunkOf(
  types: readonly DuckDBType[],
  rows: readonly (readonly RowCell[])[],
): DuckDBDataChunk {
  const chunk = DuckDBDataChunk.create(types, rows.length)
  chunk.setRows(rows.map((row) => row.map((cell, at) => cellOf(types[at]!, cell))))
  return chunk
}

function cellOf({ typeId }: DuckDBType, cell: RowCell): DuckDBValue {
  if (typeof cell === 'number' && typeId === DuckDBTypeId.BIGINT) return BigInt(Math.round(cell))
  return cell instanceof Uint8Array ? new DuckDBBlobValue(cell) : cell
}

/** A moment, Unix microseconds, as a TIMESTAMP. */
export const timestampOf = (us: number) => new DuckDBTimestampValue(BigInt(Math.round(us)))
