import { groupColumns } from '../../measure/usage/quantities.ts'
import { userError } from '../../user/user-error.ts'
import { beginPart, type Work } from '../../user/work.ts'
import { lastFoursSql } from '../import/last-fours.ts'
import { identifier, literal } from '../literal.ts'
import { cellsSql, quartersSql, shownBucketsSql } from '../quarters/quarters.ts'
import { keepRunClocks } from '../runs/run-clocks.ts'
import { type AccountScope, allAccounts, isWhole, limitTo } from '../session/account.ts'
import type { Store } from '../session/open.ts'
import { inSession, type Reader, type Session, type SqlRow } from '../session/session.ts'
import { writeOutputBy } from './output.ts'

export const exportFormats = ['parquet', 'csv', 'json', 'jsonl'] as const
export type ExportFormat = (typeof exportFormats)[number]

/** SQL for the lines of a file of quarters. Sums over an hour or a day have no minutes. @param from rows of quarters, in parentheses */
const exportedQuartersSql = (from: string) =>
  `SELECT * REPLACE (CASE WHEN width_us = 900000000 THEN minutes END AS minutes) FROM ${from}`
const orderOfQuarters = groupColumns.join(', ')
/** The same of a table, in the order of files. */
export const tableOfQuartersSql = (table: string) =>
  `${exportedQuartersSql(table)} ORDER BY ${orderOfQuarters}`

/** The query of each export. `run` is the column with the id of the run or the source. */
const exported = {
  attempts: { sql: 'SELECT * FROM attempts', run: 'run_id', order: 'run_id, slot, retry' },
  times: { sql: 'SELECT * FROM attempt_times', run: 'run_id', order: 'run_id, slot, retry' },
  usage: {
    sql: `SELECT usage.*, last_four AS key_last_four FROM usage LEFT JOIN (${lastFoursSql()}) AS keys
      ON keys.key_fp = usage.key_fp AND keys.account IS NOT DISTINCT FROM usage.account`,
    run: 'source',
    order: 'at_us, source, id',
  },
  quarters: {
    get sql() {
      return exportedQuartersSql(
        `(WITH usage_shown AS (FROM usage), usage_shown_buckets AS (${shownBucketsSql('')}), usage_cells AS (${cellsSql()}) ${quartersSql()})`,
      )
    },
    run: 'source',
    order: orderOfQuarters,
  },
  runs: { sql: 'SELECT * FROM runs', run: 'run_id', order: 'started_at, run_id' },
  health: { sql: 'SELECT * FROM health', run: 'run_id', order: 'run_id, at_us, shard' },
  findings: { sql: 'SELECT * FROM findings', run: null, order: 'audited_at, audit_id, rule' },
  polls: { sql: 'SELECT * FROM usage_polls', run: null, order: 'polled_us' },
  changes: { sql: 'SELECT * FROM usage_changes', run: 'source', order: 'changed_us, source, id' },
} as const satisfies Record<string, { sql: string; run: string | null; order: string }>

/** Rows that several accounts share. */
const ofNobody: ReadonlySet<Exportable> = new Set(['runs', 'health', 'findings', 'changes'])

export const exportable = Object.keys(exported) as readonly (keyof typeof exported)[]
export type Exportable = keyof typeof exported

/** The format by a file's extension; null if it is unknown. */
export function exportFormatOf(file: string): ExportFormat | null {
  const ending = /\.([a-z]+)$/i.exec(file)?.[1]?.toLowerCase()
  if (ending === 'ndjson') return 'jsonl'
  return exportFormats.find((format) => format === ending) ?? null
}

export interface ExportOptions extends Work {
  readonly what: Exportable
  /** Where the rows go. */
  readonly file: string
  readonly format: ExportFormat
  /** Only these runs, or sources of usage. Default: all. */
  readonly runIds?: readonly string[]
  /** Fills tables of the session that the export reads, such as prices. */
  readonly prepare?: (session: Session) => Promise<void>
  /** Only rows of this account. Default: all. */
  readonly scope?: AccountScope
}

/**
 * Writes rows of the store to a file. JSON Lines of attempts can be replayed as a trace.
 *
 * @returns the number of rows
 */
export async function exportTable(store: Store, options: ExportOptions): Promise<number> {
  const { what, file, format, runIds = [], scope = allAccounts } = options
  const { sql, run, order } = exported[what]
  if (!isWhole(scope) && ofNobody.has(what)) {
    throw userError.usage(
      `export ${what}: these rows are of no single account. Expected --account and --key with ${exportable.filter((each) => !ofNobody.has(each)).join(', ')}.`,
    )
  }
  const only =
    run === null || runIds.length === 0
      ? ''
      : `WHERE list_contains([${runIds.map(literal).join()}]::VARCHAR[], ${run})`
  beginPart(options, `writing ${what} to ${file}`, 0, 1)
  return inSession(store, options, async (session) => {
    await options.prepare?.(session)
    await limitTo(session, scope)
    if (what === 'usage' || what === 'quarters') await keepRunClocks(session)
    return exportQuery(session, `${sql} ${only} ORDER BY ${order}`, file, format)
  })
}

/**
 * Writes rows that are not in a table, such as a summary, with a column for each key of `types`.
 * @returns the number of rows
 */
export function exportRows(
  store: Reader,
  rows: readonly SqlRow[],
  types: Readonly<Record<string, 'VARCHAR' | 'DOUBLE' | 'BIGINT' | 'DECIMAL(38, 18)'>>,
  file: string,
  format: ExportFormat,
): Promise<number> {
  const names = Object.keys(types)
  const cast = names
    .map((name) => `(r ->> ${literal(name)})::${types[name]} AS ${identifier(name)}`)
    .join(', ')
  const text = JSON.stringify(rows)
  return exportQuery(
    store,
    `SELECT ${cast} FROM (SELECT unnest(from_json(${literal(text)}, '["JSON"]')) AS r)`,
    file,
    format,
  )
}

const options: Readonly<Record<ExportFormat, string>> = {
  parquet: 'FORMAT parquet, COMPRESSION zstd',
  csv: 'FORMAT csv, HEADER true',
  json: 'FORMAT json, ARRAY true',
  jsonl: 'FORMAT json',
}

/** Writes the rows of a query to a file. @returns the number of rows */
export async function exportQuery(
  store: Reader,
  sql: string,
  file: string,
  format: ExportFormat,
): Promise<number> {
  const query = format === 'parquet' ? sql : await written(store, sql, format)
  // DuckDB can't infer the compression, because the partial file lacks the extension.
  const packed = format === 'parquet' ? '' : (/\.(gz|zst)$/i.exec(file)?.[1]?.toLowerCase() ?? '')
  const compression = { gz: ', COMPRESSION gzip', zst: ', COMPRESSION zstd' }[packed] ?? ''
  return writeOutputBy(file, async (partial) => {
    const [copied] = await store.rows<{ Count: number }>(
      `COPY (${query}) TO ${literal(partial)} (${options[format]}${compression}, USE_TMP_FILE false)`,
    )
    return copied!.Count
  })
}

/** Decimals as text without zeros at their end; in CSV, an apostrophe before text that a spreadsheet would run as a formula. */
async function written(store: Reader, sql: string, format: ExportFormat): Promise<string> {
  const columns = await store.rows<{ column_name: string; column_type: string }>(`DESCRIBE ${sql}`)
  const cells = columns.map(({ column_name, column_type }) => {
    const name = identifier(column_name)
    if (/^DECIMAL\(\d+,[1-9]/.test(column_type))
      return `rtrim(rtrim(${name}::VARCHAR, '0'), '.') AS ${name}`
    if (column_type !== 'VARCHAR' || format !== 'csv') return name
    return `CASE WHEN regexp_matches(${name}, '^\\s*[=+@\\t\\r-]') THEN '''' || ${name} ELSE ${name} END AS ${name}`
  })
  return `SELECT ${cells.join(', ')} FROM (${sql})`
}
