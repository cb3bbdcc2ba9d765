import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { z } from 'zod'
import { fileTokensSql, linesSql, sumsOfUnitsSql } from '../../measure/usage/sums.ts'
import { tagDimension } from '../../measure/usage/tags.ts'
import { exportQuery } from '../../store/files/export.ts'
import { identifier, literal, textList } from '../../store/literal.ts'
import { tagSql } from '../../store/quarters/tags.ts'
import type { Session } from '../../store/session/session.ts'
import { type Asked, conditionOf, needs, periodAsked, tagsShown } from '../api/asked.ts'
import { fileName } from '../api/file-name.ts'
import { barsAsked, mostBarsOfFile } from '../api/period.ts'
import type { parameters } from '../api/shapes.ts'
import { readEntries } from './entries.ts'
import { allDays, within } from './rows.ts'
import { wholeQuery } from './sums.ts'

export interface ExportedFile {
  /** The cursor of the file that goes on; null if nothing does. */
  readonly next: string | null
  readonly type: string
  readonly name: string
  readonly bytes: Uint8Array
}

export const types = {
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
  const period = periodAsked(query, view)
  const condition = await conditionOf(asked, query)
  const bars = barsAsked(period, query.bucket, view.firstWeekday, mostBarsOfFile)
  const startsUs = bars.map(({ startUs }) => startUs)
  // Names are foreign, so within the query their places stand for them.
  const tags = tagsShown(asked)
  const tagGroups = tags.map((_, at) => `tag ${at}`)
  const sums = sumsOfUnitsSql(
    wholeQuery({
      ...within(asked, period, condition, startsUs),
      by: {
        model: bearer.shows.has('models') ? 'model' : 'NULL::VARCHAR',
        key: bearer.shows.has('keys') ? 'key_fp' : 'NULL::VARCHAR',
        endpoint: 'endpoint',
        outcome: 'outcome',
        ...Object.fromEntries(tags.map((name, at) => [tagGroups[at], tagSql(name)])),
      },
      bars: startsUs,
    }),
  )
  const names = await keyNamesSql(asked)
  const closings = await readEntries(asked, period, query)
  const later = closings.flatMap(({ type, unit, value, month, at }) =>
    type === 'after-closing' && month !== null && at !== null
      ? `SELECT ${barOf(startsUs, Date.parse(at) * 1000)} AS bar, 'after-closing' AS type, ${literal(unit)} AS unit,
           ${literal(value ?? '0')}::DECIMAL(38, 18) AS amount, ${literal(month)} AS closed_month`
      : [],
  )
  const isClosing = view.closed.length > 0
  const groups = ['bar', 'model', 'key', 'endpoint', 'outcome', ...tagGroups]
  const lines = linesSql(sums, groups, ['outcome'])
  const sql = `
    SELECT ${timeSql(`([${startsUs.join()}]::BIGINT[])[bar + 1]`, period.timezone)} AS start, type, model, map_extract_value(${names}, key) AS key, endpoint, outcome,
      ${tags.map((name, at) => `"${tagGroups[at]}" AS ${identifier(tagDimension(name))}, `).join('')}
      requests, ${fileTokensSql}, ${amountsSql(asked)}${isClosing ? ', closed_month' : ''}
    FROM (${[isClosing ? `SELECT *, NULL::VARCHAR AS closed_month FROM (${lines})` : lines, ...later].join(' UNION ALL BY NAME ')})
    ORDER BY bar, type DESC, model, key, endpoint, outcome, ${tagGroups.map((each) => `"${each}", `).join('')}unit`
  const widths = query.bucket === 'day' ? [] : [query.bucket]
  const name = fileName('usage', view, period, query, widths)
  const bytes = await inFolder((folder) => written(session, sql, format, folder))
  return { name, type: types[format], bytes, next: null }
}

/** A folder for the files of a question. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-export-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The rows of a query as the bytes of a file. */
export async function written(
  session: Session,
  sql: string,
  format: keyof typeof types,
  folder: string,
): Promise<Uint8Array> {
  const file = join(folder, `export.${format}`)
  await exportQuery(session, sql, file, format)
  return readFileSync(file)
}

/** SQL for the names of the account's keys by their fingerprint. */
export async function keyNamesSql({ session, keys: naming }: Asked): Promise<string> {
  const known = await session.rows<{ key: string }>(
    `SELECT DISTINCT key_fp AS key FROM ${allDays('key_fp')} WHERE key_fp IS NOT NULL`,
  )
  const keys = known.map(({ key }) => key)
  return `MAP(${textList(keys)}, ${textList(keys.map((key) => naming.nameOf(key)))})`
}

/** SQL for a moment as `timeIn` writes it. @param us SQL, Unix microseconds */
export function timeSql(us: string, timezone: string): string {
  const utc = `make_timestamp(${us})`
  const local = `timezone(${literal(timezone)}, make_timestamptz(${us}))`
  const minutes = `round(epoch(${local} - ${utc}) / 60)::INTEGER`
  return `strftime(${local}, '%Y-%m-%dT%H:%M:%S') || CASE WHEN ${minutes} < 0 THEN '-' ELSE '+' END
    || printf('%02d:%02d', abs(${minutes}) // 60, abs(${minutes}) % 60)`
}

/** The bar of a moment. */
const barOf = (startsUs: readonly number[], us: number) =>
  startsUs.findLastIndex((startUs) => startUs <= us)

/** SQL over `unit` and `amount` for what a token may see of them, and what it costs. */
export const amountsSql = (asked: Asked) =>
  `unit, CASE WHEN ${amountIsShown(asked.bearer)} THEN amount END AS amount, ${costSql(asked)}`

const amountIsShown = ({ shows }: Asked['bearer']) =>
  `CASE WHEN unit = 'credits' THEN ${shows.has('credits')} ELSE ${shows.has('cost')} END`

/** What an amount costs: itself in money, and credits at the price of the settings. */
function costSql({ bearer, view }: Asked): string {
  const price = bearer.shows.has('cost') ? view.moneyOf('1') : null
  const [currency, cost] =
    price === null ? ['NULL', 'NULL'] : [literal(price.currency), `amount * ${price.value}`]
  const isShown = bearer.shows.has('cost') ? 'amount IS NOT NULL' : 'false'
  return `CASE WHEN ${isShown} THEN CASE WHEN unit = 'credits' THEN ${currency} ELSE unit END END AS currency,
    CASE WHEN ${isShown} THEN CASE WHEN unit = 'credits' THEN ${cost} ELSE amount END END AS cost`
}
