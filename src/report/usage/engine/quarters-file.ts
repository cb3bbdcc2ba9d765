import { existsSync, statSync } from 'node:fs'
import { outcomes } from '../../../attempt/outcome.ts'
import { quantities } from '../../../measure/usage/quantities.ts'
import { fileSql, identifier, literal, parquetsSql } from '../../../store/literal.ts'
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
  const files = statSync(path).isDirectory() ? parquetsSql(path) : fileSql('read_parquet', path)
  const rowsOf = async (sql: string) => {
    try {
      return await store.rows<{ column_name: string; column_type: string }>(sql)
    } catch (error) {
      const [summary] = String(error).split('\n')
      throw userError.usage(`${named}: ${path} cannot be read: ${summary}`)
    }
  }
  const scan = `SELECT * FROM ${files}`
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
  const present = Object.entries(quantities).filter(([name]) => types.has(name))
  const typed = present.map(([name, { type }]) => {
    // Amounts of the file keep their digits.
    const own = types.get(name)!
    const kept = type.startsWith('DECIMAL') && own.startsWith('DECIMAL') ? own : type
    return `CAST(file.${identifier(name)} AS ${kept}) AS ${name}`
  })
  const counts = present.filter(([, { type }]) => type === 'BIGINT' || type === 'INTEGER')
  const isCounted = counts.flatMap(([name]) => {
    const value = `TRY_CAST(file.${identifier(name)} AS DOUBLE)`
    return [
      `coalesce(${value} % 1 = 0, true)`,
      ...(quantities[name]!.adds === 'sum' ? [`coalesce(${value} >= 0, true)`] : []),
    ]
  })
  const withTypes = `SELECT ${typed.join(', ')}, ${isCounted.join(' AND ')} AS is_counted FROM (${scan}) AS file`
  // A file of an earlier version lacks quantities that came later; `without` is their value then.
  const read = Object.entries(quantities).map(([name, { type, without }]) =>
    types.has(name) ? name : `CAST(${without} AS ${type}) AS ${name}`,
  )
  const rows = `SELECT 'import' AS origin, quarter // 4 AS hour, ${read.join(', ')}`
  const cells = `${rows} FROM (${withTypes})`
  // A value that is of no such type is an error of this query, and not of a later one.
  const converted = present.filter(
    ([name, { type }]) => types.get(name) !== type.replace(', ', ','),
  )
  if (converted.length > 0) {
    const each = converted.map(([name]) => `max(${name})::VARCHAR AS ${name}`)
    await rowsOf(`SELECT ${each.join(', ')} FROM (${cells})`)
  }
  const bad = await rowsOf(
    `SELECT source AS column_name, quarter::VARCHAR AS column_type FROM (${rows}, is_counted FROM (${withTypes}))
     WHERE NOT coalesce(source IS NOT NULL AND (requests > 0 OR refunds IS NOT NULL OR width_us > 900000000) AND width_us >= 60000000 AND outcome IN (${outcomes.map(literal).join()})
       AND first_us // 900000000 = quarter AND last_us >= first_us AND last_us < quarter * 900000000 + greatest(width_us, 900000000)
       AND (minutes IS NULL OR len(minutes) = 15 AND list_sum(minutes) = requests)
       AND is_counted AND coalesce(credits_known <= requests AND tokens_known <= requests, true), false) LIMIT 1`,
  )
  if (bad.length > 0) {
    throw userError.usage(
      `${named}: ${path} contains a row that is not a quarter (source ${bad[0]!.column_name}, quarter ${bad[0]!.column_type}): expected a source, 1 request or more (or a refund, or a longer interval), a known outcome, times within the quarter, 15 minutes that add up to the requests, and whole counts from 0 on, of no more known costs and tokens than requests.`,
    )
  }
  return cells
}
