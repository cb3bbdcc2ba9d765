import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { z } from 'zod'
import { exportQuery } from '../store/export.ts'
import type { AccountView } from './account-view.ts'
import { type Asked, conditionOf, needs, periodAsked } from './asked.ts'
import { barsOf } from './period.ts'
import type { parameters } from './shapes.ts'

export interface ExportedFile {
  readonly type: string
  readonly name: string
  readonly bytes: Uint8Array
}

const types = {
  csv: 'text/csv; charset=utf-8',
  jsonl: 'application/x-ndjson',
  parquet: 'application/vnd.apache.parquet',
} as const

/** Sums by bucket, model, key, endpoint and outcome, as a file. Text that a spreadsheet would run is disarmed. */
export async function exportSums(
  asked: Asked,
  query: z.output<typeof parameters.export>,
): Promise<ExportedFile> {
  needs(asked, 'export')
  const { session, view, bearer } = asked
  const { format } = query
  const period = periodAsked(query, view as AccountView)
  const condition = await conditionOf(asked, query)
  const bars = barsOf(period, query.bucket)
  const shown = (is: boolean, sql: string, name: string) =>
    `${is ? sql : 'NULL::VARCHAR'} AS ${name}`
  const starts = `SELECT unnest([${bars.map((bar) => bar.startUs).join()}]::BIGINT[]) AS start_us`
  const sql = `
    SELECT strftime(make_timestamp(start_us), '%Y-%m-%dT%H:%M:%SZ') AS start, ${shown(bearer.shows.has('models'), 'model', 'model')},
      ${shown(bearer.shows.has('keys'), 'key_fp', 'key')}, endpoint, outcome, sum(requests)::BIGINT AS requests,
      sum(prompt_tokens)::BIGINT AS input_tokens, sum(cached_tokens)::BIGINT AS cached_tokens,
      sum(completion_tokens)::BIGINT AS output_tokens, unit,
      ${bearer.shows.has('credits') ? 'sum(credits)' : 'NULL::DECIMAL(38, 18)'} AS amount
    FROM (SELECT * FROM mine WHERE first_us >= ${period.fromUs} AND first_us < ${period.toUs} AND ${condition})
    ASOF JOIN (${starts}) ON first_us >= start_us
    GROUP BY ALL ORDER BY ALL`
  const folder = mkdtempSync(join(tmpdir(), 'assay-export-'))
  try {
    const file = join(folder, `usage.${format}`)
    await exportQuery(session, sql, file, format)
    return { type: types[format], name: `usage.${format}`, bytes: readFileSync(file) }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
