import { lastFoursSql } from '../import/last-fours.ts'
import type { ClickHouse, Parameters } from './clickhouse.ts'

/** Tables of earlier builds lack it until `assay usage init` runs again; their keys have no last four letters. */
async function hasTable(clickhouse: ClickHouse): Promise<boolean> {
  const [found] = await clickhouse.rows<{ n: number }>(
    `SELECT count() AS n FROM system.tables WHERE database = currentDatabase() AND name = 'usage_keys'`,
  )
  return found!.n > 0
}

export async function insertLastFours(
  clickhouse: ClickHouse,
  rows: readonly object[],
): Promise<void> {
  if (rows.length > 0 && (await hasTable(clickhouse)))
    await clickhouse.insertRows('usage_keys', rows)
}

/**
 * Writes the last four letters of keys to a Parquet file with the columns of the table.
 *
 * @param where SQL condition of its rows
 */
export async function writeLastFours(
  clickhouse: ClickHouse,
  file: string,
  where = 'true',
  parameters: Parameters = {},
): Promise<void> {
  const none = `(SELECT CAST(NULL AS Nullable(String)) AS account, '' AS key_fp, '' AS last_four LIMIT 0)`
  const from = (await hasTable(clickhouse)) ? 'usage_keys' : none
  const rows = `(SELECT account, key_fp, last_four FROM ${from} AS keys WHERE ${where})`
  await clickhouse.writeParquet(lastFoursSql(rows), parameters, file)
}
