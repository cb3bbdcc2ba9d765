import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tokenColumns } from '../../measure/usage/quantities.ts'
import { userError } from '../../user/user-error.ts'
import { hasRows } from '../has-rows.ts'
import { content } from '../import/content.ts'
import { type FileImported, importFile, rejectsOf } from '../import/import-file.ts'
import type { FileImport } from '../import/import-options.ts'
import { fileSql, literal } from '../literal.ts'
import { hasCostsSql } from '../quarters/quarters.ts'
import { openStore, type Store } from '../session/open.ts'
import type { ClickHouse } from './clickhouse.ts'
import { insertLastFours } from './last-fours.ts'

/** Of an event. The times of a request stay in stores. */
export const columns: readonly string[] = [
  ...['source', 'id', 'ingested_us', 'version_us'],
  ...content.filter((name) => name !== 'ttft_us' && name !== 'latency_us'),
  'priced_by',
]

const statementColumns = [
  ...['source', 'id', 'statement', 'ingested_us', 'start_us', 'end_us', 'dimensions', 'measures'],
  ...['model', 'endpoint', 'key_fp', 'account', 'tags', 'outcome', 'credits', 'unit', 'requests'],
  ...[...tokenColumns, 'priced_by'],
]

const spanColumns = ['source', 'imported_us', 'from_us', 'to_us', 'is_partial']

/**
 * Imports a log into ClickHouse. A temporary local store checks its lines, and keys never leave it. Lines whose ids
 * exist already count as duplicates; their content is not compared.
 *
 * @throws UserError as `importFile` does, and for records, which would become a run
 */
export async function importToClickhouse(
  clickhouse: ClickHouse,
  options: FileImport,
): Promise<FileImported> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-import-'))
  const store = await openStore(join(folder, 'log.duckdb'))
  try {
    await fetchStatements(clickhouse, store, join(folder, 'known.parquet'))
    const imported = await importFile(store, { rejectsFile: rejectsOf(options.file), ...options })
    if (imported.kind === 'records') {
      throw userError.usage(
        `${options.file}: these records become a run, and runs are in a store: leave --engine out.`,
      )
    }
    if (options.check === true) return imported
    await writeSpan(clickhouse, store, join(folder, 'span.parquet'))
    await insertLastFours(clickhouse, await store.rows('FROM usage_keys'))
    await writeStatements(clickhouse, store, imported.source, join(folder, 'stated.parquet'))
    const [range] = await store.rows<{ first: number | null; last: number }>(
      'SELECT min(at_us) // 900000000 AS first, max(at_us) // 900000000 AS last FROM usage_events',
    )
    if (range!.first === null) return imported
    const known = async () => {
      const [counted] = await clickhouse.rows<{ n: number }>(
        `SELECT count() AS n FROM usage_events FINAL
         WHERE source = {source:String} AND quarter >= {first:Int64} AND quarter <= {last:Int64}`,
        { source: imported.source, first: range!.first!, last: range!.last },
      )
      return counted!.n
    }
    const file = join(folder, 'log.parquet')
    await store.execute(
      `COPY (SELECT ${columns.join()} FROM usage_events) TO ${literal(file)} (FORMAT parquet)`,
    )
    const before = await known()
    await clickhouse.insertParquet('usage_events', columns, file)
    const accepted = (await known()) - before
    await retireMoved(clickhouse, store, imported.source)
    await settleReferrals(clickhouse, store, imported.source)
    return {
      ...imported,
      accepted,
      duplicates: imported.duplicates + imported.accepted - accepted,
    }
  } finally {
    store.close()
    rmSync(folder, { recursive: true })
  }
}

/** Brings the statements of ClickHouse into the local store, where those of the log replace them. */
async function fetchStatements(clickhouse: ClickHouse, store: Store, file: string): Promise<void> {
  const names = [...statementColumns, 'covers_from_us', 'covers_to_us'].join()
  await clickhouse.writeParquet(`SELECT ${names} FROM usage_buckets FINAL`, {}, file)
  await store.execute(`
    INSERT INTO usage_statements BY NAME SELECT ${statementColumns.join()} FROM ${fileSql('read_parquet', file)};
    INSERT INTO usage_imports BY NAME
    SELECT statement AS import_no, any_value(read.source) AS source, '' AS file, 'clickhouse' AS format, '{}' AS mapping_json,
      any_value(ingested_us) AS imported_us, 0 AS lines, 0 AS accepted, 0 AS duplicates, 0 AS rejected,
      any_value(covers_from_us) AS from_us, any_value(covers_to_us) AS to_us, false AS is_partial
    FROM ${fileSql('read_parquet', file)} AS read GROUP BY statement`)
}

/** Writes the interval of the import, and whether it was a part of a log. */
async function writeSpan(clickhouse: ClickHouse, store: Store, file: string): Promise<void> {
  const spans = `SELECT ${spanColumns.join()} FROM usage_imports WHERE format <> 'clickhouse' AND from_us IS NOT NULL`
  if ((await store.rows(spans)).length === 0) return
  await store.execute(`COPY (${spans}) TO ${literal(file)} (FORMAT parquet)`)
  await clickhouse.insertParquet('usage_import_spans', spanColumns, file)
}

/**
 * A newer version may tell another time. A row is known by its quarter too, so the row that an older version has in another
 * quarter is replaced by one of a type that nothing reads.
 */
async function retireMoved(clickhouse: ClickHouse, store: Store, source: string): Promise<void> {
  const [entered] = await store.rows<{ at: number | null }>(
    'SELECT max(ingested_us) AS at FROM usage_events WHERE version_us IS NOT NULL',
  )
  if (entered!.at === null) return
  const retired = columns.map((name) =>
    name === 'type' ? `'moved'` : name === 'version_us' ? 'newest' : name,
  )
  await clickhouse.command(
    `INSERT INTO usage_events (${columns.join()}) SELECT ${retired.join()} FROM (
       SELECT *, max(version_us) OVER (PARTITION BY id) AS newest FROM usage_events FINAL
       WHERE source = {source:String} AND id GLOBAL IN (
         SELECT id FROM usage_events WHERE source = {source:String} AND ingested_us = {at:Int64}))
     WHERE version_us < newest AND type <> 'moved'`,
    { source, at: entered!.at },
  )
}

/**
 * Makes refunds of the amounts whose request is known by now. The row that was imported first counts, so the refund is
 * one that came just before.
 */
async function settleReferrals(
  clickhouse: ClickHouse,
  store: Store,
  source: string,
): Promise<void> {
  const referrals = await store.rows<object>('FROM usage_referrals')
  if (referrals.length > 0) await clickhouse.insertRows('usage_referrals', referrals)
  const [open] = await clickhouse.rows<{ n: number }>(
    'SELECT count() AS n FROM usage_referrals WHERE source = {source:String}',
    { source },
  )
  if (open!.n === 0) return
  const refund = columns.map((name) =>
    name === 'type'
      ? `'refund'`
      : name === 'ingested_us'
        ? 'if(isNull(version_us), ingested_us - 1, ingested_us)'
        : name,
  )
  await clickhouse.command(
    `INSERT INTO usage_events (${columns.join()}) SELECT ${refund.join()} FROM usage_events FINAL
     WHERE source = {source:String} AND type = 'adjustment' AND id GLOBAL IN (
       SELECT id FROM usage_referrals WHERE source = {source:String} AND refers_to GLOBAL IN (
         SELECT id FROM usage_events WHERE source = {source:String}))`,
    { source },
  )
}

/** Writes the statements of a source, and which of them count now. */
async function writeStatements(
  clickhouse: ClickHouse,
  store: Store,
  source: string,
  file: string,
): Promise<void> {
  if (!(await hasRows(store, 'usage_statements WHERE source = $1', [source]))) return
  const days = await clickhouse.rows<{ day: number }>(
    `SELECT DISTINCT intDiv(at_us, 86400000000) AS day FROM usage_events FINAL
     WHERE source = {source:String} AND type = 'usage'`,
    { source },
  )
  for (const { day } of days) {
    await store.execute('INSERT OR IGNORE INTO usage_event_days VALUES ($1, $2)', [
      source,
      BigInt(day),
    ])
  }
  await store.execute(
    `COPY (
       SELECT buckets.* EXCLUDE (place, has_events, is_covered, replaced_by, width_us),
         coalesce(from_us, start_us) AS covers_from_us, coalesce(to_us, end_us) AS covers_to_us,
         replaced_by IS NULL AS counts,
         ${hasCostsSql} AS has_costs,
         (SELECT max(imported_us) FROM usage_imports) AS written_us
       FROM usage_buckets AS buckets LEFT JOIN usage_imports ON import_no = statement
       WHERE buckets.source = ${literal(source)}
     ) TO ${literal(file)} (FORMAT parquet)`,
  )
  await clickhouse.insertParquet(
    'usage_buckets',
    [...statementColumns, 'covers_from_us', 'covers_to_us', 'counts', 'has_costs', 'written_us'],
    file,
  )
}
