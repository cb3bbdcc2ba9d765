import type { Reader } from './session/session.ts'

/**
 * Whether a query has a row.
 *
 * @param from SQL from the table on: `runs WHERE run_id = $1`
 */
export async function hasRows(
  reader: Pick<Reader, 'rows'>,
  from: string,
  parameters?: Parameters<Reader['rows']>[1],
): Promise<boolean> {
  const rows = await reader.rows(`SELECT 1 FROM ${from} LIMIT 1`, parameters)
  return rows.length > 0
}

/** Whether a database that is attached to the session has a table. */
export const hasTable = (reader: Pick<Reader, 'rows'>, table: string): Promise<boolean> =>
  hasRows(reader, 'duckdb_tables() WHERE table_name = $1', [table])
