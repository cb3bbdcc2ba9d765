import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UserError } from '../../user/user-error.ts'
import { type FileImport, type FileImported, importFile, rejectsOf } from '../import/import-file.ts'
import { literal } from '../import/literal.ts'
import { openStore } from '../open.ts'
import type { ClickHouse } from './clickhouse.ts'

const columns = [
  ...['source', 'id', 'at_us', 'ingested_us', 'model', 'endpoint', 'key_fp', 'account', 'outcome'],
  ...['status', 'error_code', 'credits', 'prompt_tokens', 'cached_tokens'],
  ...['completion_tokens', 'requests'],
]

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
    const imported = await importFile(store, {
      rejectsFile: rejectsOf(options.file),
      ...options,
    })
    if (imported.kind === 'records') {
      throw new UserError(
        'usage',
        `${options.file}: these records become a run, and runs are in a store: leave --engine out.`,
      )
    }
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
