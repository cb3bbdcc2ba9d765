import { closeSync, existsSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { unclosedText } from '../../user/csv.ts'
import { UserError, userError } from '../../user/user-error.ts'
import { beginPart, type Work } from '../../user/work.ts'
import { literal } from '../literal.ts'
import { diskFailure } from '../session/errors.ts'
import { usualMemorySql } from '../session/memory.ts'
import type { Session } from '../session/session.ts'
import type { CellFormats } from './cell-formats.ts'
import { beginningOf } from './csv-header.ts'
import { enter } from './enter.ts'
import { jsonDocuments } from './formats/documents.ts'
import { hideKeysOfLines } from './hide-keys.ts'
import { findKnown, nameEqualLines } from './known.ts'
import { columnsIn, type Scan } from './log-scan.ts'
import { describeLog, type LogSummary } from './log-summary.ts'
import type { LogFormat } from './mapping.ts'
import { refuseMixedWidths } from './mixed-widths.ts'
import { type LinePrices, priceLines } from './price-lines.ts'
import { hasErrors, writeRejects } from './rejects.ts'
import { keepLines, stage } from './stage.ts'
import type { StagedLog } from './staged-log.ts'
import { timezoneOf } from './time-sql.ts'
import { csvRecords } from './whole/csv-records.ts'
import { type DecodedFile, decodedFile } from './whole/decoded-file.ts'
import { objectsOnLines } from './whole/json-lines.ts'
import { type WholeText, wholeText } from './whole/whole-text.ts'

export interface UsageLogImport extends Work, StagedLog {
  /** The lines as objects, or texts that are none, if another reader made them. */
  readonly lines?: Iterable<object | string> | null
  /** The file as plain text, if the caller has read it so. */
  readonly plain?: DecodedFile
  /** Takes the whole lines of a file that ends in the middle. */
  readonly partial?: boolean
  /** Whether `lines` lack the end of the file. */
  readonly isPartial?: boolean
  /** Says what would be imported, and enters nothing. */
  readonly check?: boolean
  /** Prices of lines without a cost. */
  readonly prices?: LinePrices
  /** For rejected lines, as JSON Lines. */
  readonly rejectsFile: string
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
  /** What a reader must know about the lines, as sentences. */
  readonly notes: readonly string[]
  /** What the file holds; null unless it was only checked. */
  readonly summary: LogSummary | null
}

/**
 * Imports a usage log, all or nothing. Each id of a source counts once, however often it is imported.
 *
 *     file ─▶ staged (typed, with the reason where a line is bad) ─▶ usage_events, usage_statements
 *                 ├─▶ bad lines, and ids whose content differs ─▶ rejects file
 *                 └─▶ known lines ─▶ counted as duplicates
 *
 * Staging uses a database of its own next to the store. The store does not grow by it, and memory is bounded for any
 * file.
 *
 * A signal before the commit ends the import and leaves no rows. After the commit a signal is ignored.
 *
 * @throws the signal's reason, if it was aborted before the commit
 * @throws UserError when the file cannot be read, is not whole, lacks a mapped column, or has two meanings
 */
export async function importUsageLog(session: Session, log: UsageLogImport): Promise<ImportedLog> {
  if (!log.lines && !existsSync(log.file)) throw userError.import(`${log.file}: no such file`)
  const scratch = scratchOf(session, log.rejectsFile)
  let isEntered = false
  const interrupt = () => session.interrupt()
  const ignoreSignal = () => log.signal?.removeEventListener('abort', interrupt)
  log.signal?.addEventListener('abort', interrupt)
  try {
    log.signal?.throwIfAborted()
    if (log.plain === undefined) emptyScratch(scratch)
    await session.execute(
      `SET memory_limit = '1200MB'; SET TimeZone = ${literal(timezoneOf(log.mapping))}`,
    )
    await session.execute(`ATTACH ${literal(join(scratch, 'staged.duckdb'))} AS staging`)
    // Staged data lives for a minute, so compression does not pay.
    await session.execute(`SET force_compression = 'uncompressed'`)
    beginPart(log, `reading ${log.file}`, 0, 3)
    const { path, isPartial } = await readableText(log, scratch)
    const { notes: readNotes, scanned, formats } = await stage(session, log, path)
    const notes = [...readNotes]
    const mapping = { ...log.mapping, ...withoutNulls(formats) }
    if (log.format === 'csv' && !isPartial) await refuseBrokenEnd(session, log, path)
    for (const each of await nameEqualLines(session, log.mapping)) notes.push(each)
    beginPart(log, 'looking for lines that are known', 1, 3)
    await session.execute(`SET force_compression = 'auto'`)
    for (const each of await findKnown(session, log)) notes.push(each)
    await keepDiffering(session, scanned)
    if (log.prices !== undefined)
      for (const each of await priceLines(session, log.prices, scratch)) notes.push(each)
    if (log.mapping.identified !== true && log.mapping.fields.end !== undefined)
      await refuseMixedWidths(session, log.file)
    // Catches a signal that came between two queries and interrupted neither.
    beginPart(log, 'entering lines', 2, 3)
    const summary =
      log.check === true
        ? await describeLog(session, {
            pricedUnit: log.prices?.unit,
            isBill: log.mapping.identified === true,
          })
        : null
    const entered = await enter(session, { ...log, mapping, isPartial })
    isEntered = true
    ignoreSignal()
    const { rejected } = entered.counts
    const rejectsFile =
      log.check === true
        ? null
        : await writeRejects(session, { ...log, csv: columnsIn({ ...log, read: path }) }, rejected)
    return {
      source: log.source,
      ...entered.counts,
      rejectsFile,
      notes: [...notes, ...entered.notes],
      summary,
    }
  } catch (error) {
    // An interrupted query names no one who interrupted it.
    if (!isEntered) log.signal?.throwIfAborted()
    if (error instanceof UserError) throw error
    if (diskFailure(scratch, error) !== null) throw error
    throw userError.import(explain(log.file, String(error)))
  } finally {
    ignoreSignal()
    // A full disk may have ended the connection's work. What is missing then must not hide why.
    const end = (sql: string) => session.execute(sql).catch(() => {})
    await end('DETACH DATABASE IF EXISTS staging')
    await end(`${usualMemorySql(session.path)}; RESET force_compression; SET TimeZone = 'UTC'`)
    await end('DROP TABLE IF EXISTS import_errors; DROP TABLE IF EXISTS import_scans')
    if (log.plain === undefined) rmSync(scratch, { recursive: true, force: true })
  }
}

/** What decided how numbers and dates are read, for lines that are corrected and imported again. */
const withoutNulls = ({ decimal, dateOrder }: CellFormats) => ({
  ...(decimal === null ? {} : { decimal }),
  ...(dateOrder === null ? {} : { dateOrder }),
})

/** Lines with a known id and other content are written as they were, without keys. */
async function keepDiffering(session: Session, scanned: Scan): Promise<void> {
  const [row] = await session.rows<{ n: number }>(
    `SELECT count(*) AS n FROM staging.known WHERE how = 'differs'`,
  )
  if (row!.n === 0) return
  await keepLines(
    session,
    scanned,
    `lines.rowid IN (SELECT line_no FROM staging.known WHERE how = 'differs')`,
  )
  await hideKeysOfLines(session, scanned)
}

/** The folder for what an import needs while it runs. One that a killed import left is emptied. */
export function scratchOf(session: Session, rejectsFile: string): string {
  return `${session.path === ':memory:' ? rejectsFile : session.path}.import`
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
    writeLines(path, lines)
    return { path, isPartial: log.isPartial === true }
  }
  if (format === 'parquet') return { path: file, isPartial: false }
  const copy = join(scratch, 'text')
  const plain = log.plain ?? (await decodedFile(file, copy, log.signal))
  const csv = columnsIn({ ...log, read: plain.path })
  const delimiter = csv?.delimiter ?? null
  const whole = await wholeText({ file, plain, copy, delimiter, partial })
  if (format === 'csv' || !areDocuments(whole.path)) return whole
  const path = join(scratch, 'lines.jsonl')
  writeLines(path, documentTexts(whole.path, file))
  return { ...whole, path }
}

/** Whether a text has JSON objects over several lines, or several in one line. */
function areDocuments(path: string): boolean {
  const head = beginningOf(path).trimStart()
  return head.startsWith('{') && head.includes('\n') && objectsOnLines(head) !== 'one'
}

function* documentTexts(path: string, file: string): Generator<object | string> {
  for (const document of jsonDocuments(path, file)) {
    yield 'unread' in document ? String(document.unread).replaceAll('\n', ' ') : document
  }
}

function writeLines(path: string, lines: Iterable<object | string>): void {
  const handle = openSync(path, 'w', 0o600)
  let text = ''
  for (const line of lines) {
    text += `${typeof line === 'string' ? line : JSON.stringify(line)}\n`
    if (text.length < 1 << 20) continue
    writeSync(handle, text)
    text = ''
  }
  writeSync(handle, text)
  closeSync(handle)
}

/**
 * @throws UserError for a CSV file with a quote that is never closed, which would swallow the lines after it, and for
 *   one whose last row lacks cells
 */
async function refuseBrokenEnd(session: Session, log: UsageLogImport, path: string): Promise<void> {
  if (!(await hasErrors(session))) return
  const { delimiter } = columnsIn({ ...log, read: path })!
  const { openQuoteLine, cells } = await csvRecords(path, delimiter)
  if (openQuoteLine !== null) {
    throw userError.import(`${log.file}: ${unclosedText(openQuoteLine)} Nothing was imported.`)
  }
  if (cells.last >= cells.header || log.partial === true) return
  throw userError.import(
    `${log.file} ends in the middle: its last row has ${cells.last} of ${cells.header} cells. Nothing was imported. Add --partial to import the whole lines.`,
  )
}

function explain(file: string, error: string): string {
  if (error.includes('state machine')) {
    return `${file} is no CSV as RFC 4180 has it: its line ends are mixed (CRLF and LF), or a quote is never closed`
  }
  if (/parquet/i.test(error)) {
    return `${file} is no whole Parquet file: it is damaged, or ends in the middle. Nothing was imported.`
  }
  if (/malformed json/i.test(error)) return `${file} is not JSON from its start to its end`
  return `${file} cannot be imported: ${error.split('\n')[0]}`
}

/** The format by a file's extension, ignoring .gz and .zst. */
export function formatOf(file: string): LogFormat | null {
  const name = file.toLowerCase().replace(/\.(gz|zst)$/, '')
  if (/\.(jsonl|ndjson|json|log)$/.test(name)) return 'jsonl'
  if (/\.(csv|tsv)$/.test(name)) return 'csv'
  return /\.(parquet|pq)$/.test(name) ? 'parquet' : null
}
