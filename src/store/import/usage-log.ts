import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../../user/user-error.ts'
import { beginPart, type Work } from '../../user/work.ts'
import { writeOutputBy } from '../output.ts'
import type { Session } from '../session.ts'
import { creditsTypes, type StagedField, stagedCredits, stagedFields } from './fields.ts'
import { literal } from './literal.ts'
import { type LogFormat, scanOf } from './log-scan.ts'
import type { Mapping } from './mapping.ts'
import { csvRecords } from './whole/csv-records.ts'
import { type PlainText, plainText } from './whole/plain-text.ts'
import { type WholeText, wholeText } from './whole/whole-text.ts'

export interface UsageLogImport extends Work {
  readonly file: string
  /** The lines as JSON, if the file nests them in another structure. */
  readonly lines?: readonly object[] | null
  readonly mapping: Mapping
  /** The namespace of ids. */
  readonly source: string
  readonly format: LogFormat
  /** The file as plain text, if the caller has read it so. */
  readonly plain?: PlainText
  /** Takes the whole lines of a file that ends in the middle. */
  readonly partial?: boolean
  /** For rejected lines, as JSON Lines. */
  readonly rejectsFile: string
  readonly nowUs: number
}

/** The counts of an import: lines = accepted + duplicates + rejected. */
export interface ImportedLog {
  readonly source: string
  readonly lines: number
  readonly accepted: number
  readonly duplicates: number
  readonly rejected: number
  /** Null when nothing was rejected. */
  readonly rejectsFile: string | null
}

/**
 * Imports a usage log, all or nothing. Each id of a source counts once, however often it is imported.
 *
 *     file ─▶ staged (typed, with the reason where a line is bad) ─▶ usage_events
 *                 ├─▶ bad lines, and ids whose content differs ─▶ rejects file
 *                 └─▶ known ids ─▶ counted as duplicates
 *
 * Staging uses a database of its own next to the store. The store does not grow by it, and memory is bounded for any
 * file.
 *
 * A signal before the commit ends the import and leaves no rows. After the commit a signal is ignored.
 *
 * @throws UserError when the file cannot be read, or lacks a mapped column
 */
export async function importUsageLog(store: Session, log: UsageLogImport): Promise<ImportedLog> {
  if (!existsSync(log.file)) throw new UserError('import', `${log.file}: no such file`)
  const scratch = scratchOf(store, log.rejectsFile)
  if (log.plain === undefined) emptyScratch(scratch)
  const { time } = log.mapping.fields
  const timezone = typeof time === 'object' && 'timezone' in time ? time.timezone : 'UTC'
  await store.execute(`SET memory_limit = '1200MB'; SET TimeZone = ${literal(timezone)}`)
  await store.execute(`ATTACH ${literal(join(scratch, 'staged.duckdb'))} AS staging`)
  const interrupt = () => store.interrupt()
  const ignoreSignal = () => log.signal?.removeEventListener('abort', interrupt)
  log.signal?.addEventListener('abort', interrupt)
  try {
    log.signal?.throwIfAborted()
    // Staged data lives for a minute, so compression does not pay.
    await store.execute(`SET force_compression = 'uncompressed'`)
    beginPart(log, `reading ${log.file}`, 0, 3)
    const { path, isPartial } = await readableText(log, scratch)
    await stage(store, log, path)
    if (log.format === 'csv' && !isPartial) await refuseOpenQuote(store, log, path)
    beginPart(log, 'looking for lines that are known', 1, 3)
    await store.execute(`SET force_compression = 'auto'`)
    await findKnown(store, log.source)
    // Catches a signal that came between two queries and interrupted neither.
    beginPart(log, 'entering lines', 2, 3)
    const counts = await enter(store, log)
    ignoreSignal()
    return { ...counts, rejectsFile: await writeRejects(store, log, counts.rejected) }
  } catch (error) {
    if (error instanceof UserError) throw error
    throw new UserError('import', explain(log.file, String(error)))
  } finally {
    ignoreSignal()
    await store.execute('DETACH staging')
    await store.execute(`RESET memory_limit; RESET force_compression; SET TimeZone = 'UTC'`)
    await store.execute('DROP TABLE IF EXISTS import_errors; DROP TABLE IF EXISTS import_scans')
    if (log.plain === undefined) rmSync(scratch, { recursive: true, force: true })
  }
}

/** The folder for what an import needs while it runs. One that a killed import left is emptied. */
export function scratchOf(store: Session, rejectsFile: string): string {
  return `${store.path === ':memory:' ? rejectsFile : store.path}.import`
}

export function emptyScratch(scratch: string): void {
  rmSync(scratch, { recursive: true, force: true })
  mkdirSync(scratch, { mode: 0o700 })
}

/** The text that DuckDB reads. @throws UserError for a file that ends in the middle */
async function readableText(log: UsageLogImport, scratch: string): Promise<WholeText> {
  const { file, format, lines, partial = false } = log
  if (lines) {
    const path = join(scratch, 'lines.jsonl')
    writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    return { path, isPartial: false }
  }
  if (format === 'parquet') return { path: file, isPartial: false }
  const copy = join(scratch, 'text')
  const plain = log.plain ?? (await plainText(file, copy, log.signal))
  const delimiter = format === 'csv' ? log.mapping.delimiter : null
  return wholeText({ file, plain, copy, delimiter, partial })
}

/** @throws UserError for a CSV file with a quote that is never closed, which would swallow the lines after it */
async function refuseOpenQuote(store: Session, log: UsageLogImport, path: string): Promise<void> {
  if (!(await hasErrors(store))) return
  const { openQuoteLine } = await csvRecords(path, log.mapping.delimiter)
  if (openQuoteLine === null) return
  throw new UserError(
    'import',
    `${log.file}: the quote in line ${openQuoteLine} is never closed, so the lines after it cannot be read. Nothing was imported.`,
  )
}

function explain(file: string, error: string): string {
  if (error.includes('state machine')) {
    return `${file} is no CSV as RFC 4180 has it: its line ends are mixed (CRLF and LF), or a quote is never closed`
  }
  return `${file} cannot be imported: ${error.split('\n')[0]}`
}

/** The format by a file's extension, ignoring .gz and .zst. */
export function formatOf(file: string): LogFormat | null {
  const name = file.toLowerCase().replace(/\.(gz|zst)$/, '')
  if (/\.(jsonl|ndjson|json|log)$/.test(name)) return 'jsonl'
  if (/\.(csv|tsv)$/.test(name)) return 'csv'
  return /\.(parquet|pq)$/.test(name) ? 'parquet' : null
}

async function stage(store: Session, log: UsageLogImport, read: string): Promise<void> {
  const { scan, reader, raw } = await scanOf(store, { ...log, read })
  const fields = stagedFields(log.mapping, reader)
  const unread = log.format === 'jsonl' ? `WHEN v IS NULL THEN 'line: expected JSON'` : ''
  const checked = fields.filter((field) => field.wrong !== null)
  // Values first, then their faults. The line itself is kept only if it has a fault.
  await store.execute(
    `CREATE TABLE staging.lines AS
     SELECT ${fields.map((field) => field.name).join(', ')}, reason,
            CASE WHEN reason IS NOT NULL THEN ${raw} END AS line
     FROM (
       SELECT *, CASE ${unread} ${checked.map(reasonSql).join('\n')} END AS reason
       FROM (SELECT *, ${fields.map((field) => `${field.sql} AS ${field.name}`).join(',\n')}
             FROM (${scan})))`,
  )
}

/** `credits: expected a number, 0 or more, got "abc"`. */
function reasonSql({ name, wrong, expected, came }: StagedField): string {
  return `WHEN ${wrong} THEN ${literal(`${name === 'at_us' ? 'time' : name}: expected ${expected}, got `)}
    || coalesce(to_json(left(${came}, 80))::VARCHAR, 'nothing')`
}

const content = [
  'at_us',
  'model',
  'endpoint',
  'key_fp',
  'account',
  'outcome',
  'status',
  'error_code',
  'credits',
  'prompt_tokens',
  'cached_tokens',
  'completion_tokens',
  'requests',
  'ttft_us',
  'latency_us',
]

const contentWith = (credits: string) =>
  content.map((name) => (name === 'credits' ? credits : name))

/**
 * Finds lines whose id was seen before, in this file or an earlier one, and whether they differ. Content is compared
 * by hash, and within the file only ids with equal hashes are compared as text: millions of wide rows would exceed the
 * memory limit of an import.
 */
async function findKnown(store: Session, source: string): Promise<void> {
  // The hash depends on the type, so both sides need the same.
  const hashOf = (credits: string) => `hash(${contentWith(credits).join(', ')})`
  await store.execute(
    `CREATE TABLE staging.known AS
     WITH good AS (
       SELECT rowid AS line_no, id, ${hashOf(stagedCredits)} AS h FROM staging.lines WHERE reason IS NULL),
     twice AS (SELECT hash(id) AS h FROM good GROUP BY 1 HAVING count(*) > 1),
     repeated AS (
       SELECT line_no, h, first_value(line_no) OVER w AS first, first_value(h) OVER w AS kept
       FROM good WHERE hash(id) IN (SELECT h FROM twice)
       WINDOW w AS (PARTITION BY id ORDER BY line_no)),
     before AS (
       SELECT good.line_no, good.h <> kept.h AS differs
       FROM good JOIN (SELECT id, ${hashOf(`credits::${creditsTypes.any}`)} AS h FROM usage_events WHERE source = $1) AS kept
         ON kept.id = good.id)
     SELECT line_no, differs FROM before
     UNION ALL
     SELECT line_no, h <> kept AS differs FROM repeated
     WHERE line_no > first AND line_no NOT IN (SELECT line_no FROM before)`,
    [source],
  )
}

async function enter(
  store: Session,
  log: UsageLogImport,
): Promise<Omit<ImportedLog, 'rejectsFile'>> {
  const [number] = await store.rows<{ next: number }>(
    'SELECT coalesce(max(import_no), 0) + 1 AS next FROM usage_imports',
  )
  const broken = (await hasErrors(store)) ? '(SELECT count(DISTINCT line) FROM import_errors)' : '0'
  const [counts] = await store.rows<{
    lines: number
    duplicates: number
    differing: number
    bad: number
    broken: number
  }>(
    `SELECT count(*) AS lines, count(*) FILTER (WHERE reason IS NOT NULL) AS bad,
       (SELECT count(*) FROM staging.known WHERE NOT differs) AS duplicates,
       (SELECT count(*) FROM staging.known WHERE differs) AS differing,
       ${broken} AS broken
     FROM staging.lines`,
  )
  const { lines, duplicates, differing, bad, broken: unread } = counts!
  const rejected = bad + differing + unread
  const accepted = lines - bad - differing - duplicates
  await store.execute('BEGIN')
  try {
    const staged = contentWith(await storedCredits(store))
    await store.execute(
      `INSERT INTO usage_events
         (source, id, ingested_us, import_no, ${content.join(', ')})
       SELECT $1, id, $2, $3, ${staged.join(', ')} FROM staging.lines
       WHERE reason IS NULL
       ${duplicates + differing > 0 ? 'AND rowid NOT IN (SELECT line_no FROM staging.known)' : ''}`,
      [log.source, BigInt(Math.round(log.nowUs)), number!.next],
    )
    await store.execute(
      `INSERT INTO usage_imports VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
      [
        number!.next,
        log.source,
        log.file,
        log.format,
        JSON.stringify(log.mapping),
        BigInt(Math.round(log.nowUs)),
        lines + unread,
        accepted,
        duplicates,
        rejected,
      ],
    )
    await store.execute('COMMIT')
  } catch (error) {
    await store.execute('ROLLBACK')
    throw error
  }
  return { source: log.source, lines: lines + unread, accepted, duplicates, rejected }
}

/**
 * The staged credits in the store's type. 64 bits suffice for most logs; they take a third of the space and add up
 * faster. The first log with finer or larger credits widens the column.
 */
async function storedCredits(store: Session): Promise<string> {
  const wide = await store.rows(
    `SELECT 1 AS there FROM staging.lines WHERE reason IS NULL AND credits_wide IS NOT NULL LIMIT 1`,
  )
  if (wide.length === 0) return 'credits'
  const [stored] = await store.rows<{ type: string }>(
    `SELECT column_type AS type FROM (DESCRIBE usage_events) WHERE column_name = 'credits'`,
  )
  // Each change of the type rewrites the whole table.
  if (stored!.type !== creditsTypes.any) {
    await store.execute(`ALTER TABLE usage_events ALTER credits TYPE ${creditsTypes.any}`)
  }
  return stagedCredits
}

/** Whether the CSV reader reported unreadable lines. */
async function hasErrors(store: Session): Promise<boolean> {
  const tables = await store.rows(
    `SELECT 1 AS there FROM duckdb_tables() WHERE table_name = 'import_errors'`,
  )
  return tables.length > 0
}

async function writeRejects(
  store: Session,
  log: UsageLogImport,
  rejected: number,
): Promise<string | null> {
  if (rejected === 0) return null
  const errorsAreThere = await hasErrors(store)
  // An unreadable line may hold a key, so anything that looks like one is masked.
  const masked = (sql: string) =>
    `regexp_replace(${sql}, '(sk-|[Bb]earer +)[A-Za-z0-9_.-]{6,}', '\\1[key]', 'g')`
  const again = 'id: it was seen before with other content; the first is kept'
  await writeOutputBy(log.rejectsFile, (partial) =>
    store.execute(
      `COPY (
       SELECT reason, ${masked('line')} AS line FROM staging.lines WHERE reason IS NOT NULL
       UNION ALL
       SELECT ${literal(again)} AS reason,
              to_json(struct_pack(id := id, ${contentWith(stagedCredits)
                .map((sql, at) => `${content[at]} := ${sql}`)
                .join(', ')}))::VARCHAR AS line
       FROM staging.lines WHERE rowid IN (SELECT line_no FROM staging.known WHERE differs)
       ${
         errorsAreThere
           ? `UNION ALL SELECT 'line ' || line || ': ' || any_value(error_message) AS reason,
                ${masked('trim(any_value(csv_line), chr(10) || chr(13))')} AS line FROM import_errors GROUP BY import_errors.line`
           : ''
       }
     ) TO ${literal(partial)} (FORMAT json, USE_TMP_FILE false)`,
    ),
  )
  return log.rejectsFile
}
