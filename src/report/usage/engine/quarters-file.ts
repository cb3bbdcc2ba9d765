import { existsSync, statSync } from 'node:fs'
import { outcomes } from '../../../attempt/outcome.ts'
import { quantities } from '../../../measure/usage/quantities.ts'
import { identifier, literal, parquetsLiteral, pathLiteral } from '../../../store/literal.ts'
import type { Reader } from '../../../store/session/session.ts'
import { userError } from '../../../user/user-error.ts'
import { quartersEngine, type UsageEngine } from './engine.ts'

/**
 * The table of quarters in Parquet: a file, or a folder of files as Spark writes it.
 *
 * @throws UserError for an unreadable file, a missing column, or a row that is not a quarter
 */
export const quartersFile = async (store: Reader, path: string): Promise<UsageEngine> =>
  quartersEngine(path, await quarterCells(store, path, '--quarters'))

/**
 * SQL for the rows of such a file, as `usage_cells` has them.
 *
 * @param named what names the file, for errors
 * @throws UserError as `quartersFile` does
 */
export async function quarterCells(store: Reader, path: string, named: string): Promise<string> {
  if (!existsSync(path)) throw userError.usage(`${named}: ${path}: no such file`)
  const files = statSync(path).isDirectory() ? parquetsLiteral(path) : pathLiteral(path)
  const rowsOf = async (sql: string) => {
    try {
      return await store.rows<{ column_name: string; column_type: string }>(sql)
    } catch (error) {
      const [summary] = String(error).split('\n')
      throw userError.usage(`${named}: ${path} cannot be read: ${summary}`)
    }
  }
  const scan = `SELECT * FROM read_parquet(${files})`
  const types = new Map(
    (await rowsOf(`DESCRIBE ${scan}`)).map((each) => [each.column_name, each.column_type]),
  )
  const missing = Object.entries(quantities)
    .filter(([name, { without }]) => !types.has(name) && without === undefined)
    .map(([name]) => name)
  if (missing.length > 0) {
    throw userError.usage(
      `${named}: ${path} has no column ${missing.join(', ')}; it has ${[...types.keys()].join(', ')}. docs/usage.md has the table.`,
    )
  }
  // A file of an earlier version lacks quantities that came later; `without` is their value then.
  const read = Object.entries(quantities).map(([name, { type, without }]) => {
    // Decimals of the file keep their digits.
    const kept = /^DECIMAL/.test(types.get(name) ?? '') ? types.get(name) : type
    return `${types.has(name) ? `CAST(file.${identifier(name)} AS ${kept})` : `CAST(${without} AS ${type})`} AS ${name}`
  })
  const cells = `SELECT 'import' AS origin, quarter // 4 AS hour, * FROM (SELECT ${read.join(', ')} FROM (${scan}) AS file)`
  const bad = await rowsOf(
    `SELECT source AS column_name, quarter::VARCHAR AS column_type FROM (${cells})
     WHERE NOT coalesce(source IS NOT NULL AND (requests > 0 OR refunds IS NOT NULL OR width_us > 900000000) AND width_us >= 60000000 AND outcome IN (${outcomes.map(literal).join()})
       AND first_us // 900000000 = quarter AND last_us >= first_us AND last_us < quarter * 900000000 + greatest(width_us, 900000000)
       AND (minutes IS NULL OR len(minutes) = 15 AND list_sum(minutes) = requests), false) LIMIT 1`,
  )
  if (bad.length > 0) {
    throw userError.usage(
      `${named}: ${path} contains a row that is not a quarter (source ${bad[0]!.column_name}, quarter ${bad[0]!.column_type}): expected a source, 1 request or more (or a refund, or a longer interval), a known outcome, times within the quarter, and 15 minutes that add up to the requests.`,
    )
  }
  return cells
}
