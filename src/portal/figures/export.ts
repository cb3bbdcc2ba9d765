import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { z } from 'zod'
import { type Period, timeIn } from '../../measure/usage/calendar.ts'
import { fileTokensSql, linesSql, sumsOfUnitsSql } from '../../measure/usage/sums.ts'
import { tagDimension } from '../../measure/usage/tags.ts'
import { wallMs } from '../../measure/usage/zone.ts'
import { clockChanges } from '../../report/usage/board/clock-changes.ts'
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
import { unitsOfFile, wholeQuery } from './sums.ts'

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
  const keyName = await keyNameSql(asked, 'key')
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
    SELECT (${textList(startsUs.map((startUs) => timeIn(startUs, period.timezone)))})[bar + 1] AS start, type, model, ${keyName} AS key, endpoint, outcome,
      ${tags.map((name, at) => `"${tagGroups[at]}" AS ${identifier(tagDimension(name))}, `).join('')}
      requests, ${fileTokensSql}, ${amountsSql(asked)}${isClosing ? ', closed_month' : ''}
    FROM (${[isClosing ? `SELECT *, NULL::VARCHAR AS closed_month FROM (${lines})` : lines, ...later].join(' UNION ALL BY NAME ')})
    ORDER BY bar, type DESC, model, key, endpoint, outcome, ${tagGroups.map((each) => `"${each}", `).join('')}unit`
  const widths = query.bucket === 'day' ? [] : [query.bucket]
  const units = await unitsOfFile(asked, period)
  const name = fileName('usage', view, period, query, [...units, ...widths])
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

/** SQL for the name of a key of the account. @param key SQL, a fingerprint; one that came after the last copy has no name yet */
export async function keyNameSql({ session, keys: naming }: Asked, key: string): Promise<string> {
  const known = await session.rows<{ key: string }>(
    `SELECT DISTINCT key_fp AS key FROM ${allDays('key_fp')} WHERE key_fp IS NOT NULL`,
  )
  const keys = known.map(({ key }) => key)
  const names = `MAP(${textList(keys)}, ${textList(keys.map((each) => naming.nameOf(each)))})`
  return `CASE WHEN ${key} IS NOT NULL THEN coalesce(map_extract_value(${names}, ${key}), ${literal(naming.nameOf(''))}) END`
}

/** SQL for a moment of a period as `timeIn` writes it, from the runtime's calendar: DuckDB's may be of another year. @param us SQL, Unix microseconds */
export function timeSql(us: string, period: Period): string {
  const { fromUs, timezone } = period
  const changes = clockChanges(period, timezone).map(({ atUs }) => atUs)
  const later = changes.filter((atUs) => atUs > fromUs)
  const bySpan = (valueAt: (startUs: number) => string | number) =>
    later.reduce(
      (before, atUs) => `CASE WHEN ${us} >= ${atUs} THEN ${valueAt(atUs)} ELSE ${before} END`,
      `${valueAt(fromUs)}`,
    )
  const local = `${us} + ${bySpan((atUs) => wallMs(atUs, timezone) * 1000 - atUs)}`
  const offset = bySpan((atUs) => literal(timeIn(atUs, timezone).slice(19)))
  return `strftime(make_timestamp(${local}), '%Y-%m-%dT%H:%M:%S') || ${offset}`
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
