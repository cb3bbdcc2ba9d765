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

/** Enters many rows, whose cells are in the order of the table's columns. */
export async function insertRows(
  session: Pick<Session, 'createAppender'>,
  table: string,
  rows: readonly (readonly RowCell[])[],
): Promise<void> {
  const appender = await session.createAppender(table)
  const types = columnTypesOf(appender)
  for (let from = 0; from < rows.length; from += chunkRows) {
    appender.appendDataChunk(chunkOf(types, rows.slice(from, from + chunkRows)))
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
