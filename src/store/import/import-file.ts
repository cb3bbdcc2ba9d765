import { existsSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { mappedNames } from '../../measure/usage/quantities.ts'
import { given } from '../../user/given.ts'
import { userError } from '../../user/user-error.ts'
import { beginPart, type Work } from '../../user/work.ts'
import { mustStandApart } from '../files/files-apart.ts'
import { diskFailure } from '../session/errors.ts'
import type { Store } from '../session/open.ts'
import { inSession, type Session } from '../session/session.ts'
import type { DateOrder, DecimalMark, partPlaces, RepeatedTime } from './cell-formats.ts'
import { beginningOf } from './csv-header.ts'
import type { KnownFormat } from './formats/format.ts'
import { readKnown } from './known-logs.ts'
import { hasLineRules, readLines } from './lines/read-lines.ts'
import { type LogFormat, type Mapping, parseMapping } from './mapping.ts'
import { parquetText } from './parquet-text.ts'
import type { LinePrices } from './price-lines.ts'
import { delimiterOf, isJson, knownFormat, namesIn } from './recognised-log.ts'
import {
  type ImportedRecords,
  importRecords,
  looksLikeRecords,
  type RecordTool,
  recordTools,
} from './records.ts'
import { isRejects, rejectedLines } from './rejected-lines.ts'
import { columnsSeen, shownText } from './suggest.ts'
import { emptyScratch, formatOf, type ImportedLog, importUsageLog, scratchOf } from './usage-log.ts'
import { type DecodedFile, decodedFile } from './whole/decoded-file.ts'
import { type WholeText, wholeText } from './whole/whole-text.ts'

export interface FileImport extends Work, Meaning {
  readonly file: string
  /** Files with the other pages of the same list. */
  readonly pages?: readonly string[]
  /** Maps columns to fields; not needed for known logs and records. */
  readonly mapping?: Mapping
  /** By content and name if absent. */
  readonly format?: LogFormat | RecordTool
  /**
   * The namespace of ids: the service that wrote the log. That of the mapping if absent, else `log`. It is never the
   * file's name, which changes when a log is rotated.
   */
  readonly source?: string
  /** For rejected lines; `FILE.rejects.jsonl` if absent. */
  readonly rejectsFile?: string
  /** Model of records that do not name one. */
  readonly model?: string
  /** Takes the whole lines of a file that ends in the middle, and pages without the others. */
  readonly partial?: boolean
  /** Says what would be imported, and enters nothing. */
  readonly check?: boolean
  /** Prices of lines without a cost. */
  readonly prices?: LinePrices
}

/** What a file leaves open. Each of these replaces that of the mapping. */
export interface Meaning {
  /** The width of sums: `1d`. */
  readonly bucket?: string
  readonly decimal?: DecimalMark
  readonly dateOrder?: DateOrder
  /** The zone of times without an offset. */
  readonly timezone?: string
  readonly ambiguous?: RepeatedTime
  /** Whether the tokens of the input contain cached ones. */
  readonly cached?: (typeof partPlaces)[number]
  /** Where a line has own dimensions, by their names. */
  readonly tags?: NonNullable<Mapping['tags']>
}

export type FileImported =
  | ({ readonly kind: 'records' } & ImportedRecords)
  | ({ readonly kind: 'log' } & ImportedLog)

/** Where the rejected lines of a file go. */
export const rejectsOf = (file: string, given?: string) => given ?? `${file}.rejects.jsonl`

/**
 * Imports a file: a usage log, or the records of another tool. The content decides which.
 *
 * @throws UserError when it cannot be read, is not whole, or its kind is unknown
 */
export function importFile(store: Store, options: FileImport): Promise<FileImported> {
  return inSession(store, {}, (session) => importInto(session, options), { writes: 'attempts' })
}

async function importInto(session: Session, options: FileImport): Promise<FileImported> {
  const { file } = options
  if (!existsSync(file)) throw userError.usage(`${file}: no such file`)
  const rejectsFile = rejectsOf(file, options.rejectsFile)
  mustStandApart([
    { name: 'the rejects', path: rejectsFile, role: 'output' },
    ...[file, ...(options.pages ?? [])].map((path) => ({
      ...{ name: 'the log', path, role: 'input' as const },
    })),
  ])
  const scratch = scratchOf(session, rejectsFile)
  try {
    emptyScratch(scratch)
    return await importText(session, { ...options, rejectsFile }, scratch)
  } catch (error) {
    const full = diskFailure(scratch, error)
    throw full === null
      ? error
      : userError.import(`Nothing of ${file} was imported: ${full.message}`)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

async function importText(
  session: Session,
  options: FileImport & { readonly rejectsFile: string },
  scratch: string,
): Promise<FileImported> {
  const { file, rejectsFile } = options
  const named = options.format ?? options.mapping?.format ?? formatOf(file)
  const plain: DecodedFile =
    named === 'parquet'
      ? { path: file, isCut: false }
      : await decodedFile(file, join(scratch, 'text'), options.signal)
  if (named !== 'parquet' && isRejects(plain.path)) {
    const rejected = { file, path: plain.path, folder: scratch }
    const { path, mapping, source } = await rejectedLines(session, rejected, options.mapping)
    return importLog(
      session,
      {
        ...options,
        mapping,
        format: 'jsonl',
        ...(source === null ? {} : { source: options.source ?? source }),
      },
      { path, isCut: plain.isCut },
      scratch,
    )
  }
  const tool = toolOf(options, plain.path)
  if (tool !== null) {
    beginPart(options, `reading ${file}`, 0, 1)
    const model = options.model ?? null
    const records = { file, read: plain.path, tool, model, rejectsFile }
    return { kind: 'records', ...(await importRecords(session, records)) }
  }
  if (named !== 'parquet') return importLog(session, options, plain, scratch)
  const isMapped = options.mapping !== undefined && hasLineRules(options.mapping)
  const isOpen = options.mapping === undefined || isMapped
  const text = isOpen ? await parquetText(session, { file, scratch, isMapped }) : null
  return text === null
    ? importLog(session, options, plain, scratch)
    : importLog(session, { ...options, format: 'jsonl' }, { path: text, isCut: false }, scratch)
}

/** A log whose text is known. */
interface OpenLog {
  readonly options: FileImport & { readonly rejectsFile: string }
  readonly plain: DecodedFile
  readonly scratch: string
  /** Its format, if the options, its mapping or its name say it. */
  readonly named: string | null
}

/** The lines of a log, and how they are mapped. */
interface ReadLog {
  /** Null if DuckDB reads the columns of the file. */
  readonly lines: Iterable<object | string> | null
  readonly mapping: Mapping
  readonly format: LogFormat
  readonly notes: readonly string[]
  readonly isPartial: boolean
}

async function importLog(
  session: Session,
  options: OpenLog['options'],
  plain: DecodedFile,
  scratch: string,
): Promise<FileImported> {
  const { file, pages = [], rejectsFile } = options
  const named = options.format ?? options.mapping?.format ?? formatOf(file)
  const recognised = named === 'parquet' ? null : knownFormat(plain.path)
  const ruled = ruledMapping(options, recognised)
  const open = { options, plain, scratch, named }
  const isKnown = options.mapping === undefined && recognised !== null
  if (pages.length > 0 && !isKnown) {
    throw userError.usage(
      `${file}: pages of a list are those of a known log; with a mapping, import each file by itself.`,
    )
  }
  const log = isKnown
    ? await readKnownLog(open, recognised)
    : ruled === null
      ? readColumns(open)
      : await readByRules(open, ruled, recognised)
  const { mapping: _, ...others } = options
  const counts = await importUsageLog(session, {
    ...others,
    file: [file, ...pages].join(', '),
    mapping: log.mapping,
    plain,
    lines: log.lines,
    isPartial: log.isPartial,
    source: options.source ?? log.mapping.source ?? 'log',
    format: log.format,
    rejectsFile,
    nowUs: Date.now() * 1000,
  })
  const hints = [
    ...knownHint(open, log.mapping, recognised, counts.rejected),
    ...(log.lines === null && options.mapping === undefined ? unreadHint(plain.path) : []),
  ]
  return { kind: 'log', ...counts, notes: [...log.notes, ...counts.notes, ...hints] }
}

async function readKnownLog(open: OpenLog, known: KnownFormat): Promise<ReadLog> {
  const { options, scratch } = open
  // The rows have their tags already.
  const { tags, ...meaning } = options
  const { file, partial = false, bucket } = options
  const whole = await wholeTextOf(open, undefined)
  const pages = await Promise.all(
    (options.pages ?? []).map(async (page, at) => ({
      file: page,
      path: (await decodedFile(page, join(scratch, `page-${at}`), options.signal)).path,
    })),
  )
  const rows = readKnown(known, [{ file, path: whole.path }, ...pages], { partial, bucket, tags })
  return {
    lines: rows.lines,
    mapping: withMeaning(rows.mapping, meaning),
    format: 'jsonl',
    notes: rows.notes,
    isPartial: whole.isPartial || rows.isPartial,
  }
}

/** @param ruled the mapping with all that the options say */
async function readByRules(
  open: OpenLog,
  ruled: Mapping,
  recognised: KnownFormat | null,
): Promise<ReadLog> {
  const { path, isPartial } = await wholeTextOf(open, ruled.delimiter)
  const rows = readLines({
    path,
    mapping: ruled,
    isAmount: recognised?.isAmount,
    delimiter: delimiterIn(path, ruled.delimiter),
  })
  return { lines: rows.lines, mapping: rows.mapping, format: 'jsonl', notes: rows.notes, isPartial }
}

function readColumns({ options, plain, named }: OpenLog): ReadLog {
  const { file } = options
  const given = options.mapping ?? ownNames(plain.path, named)
  if (given === null) {
    if (statSync(plain.path).size === 0) throw userError.usage(`${file} is empty.`)
    throw userError.usage(
      `${file}: a usage log needs --map FILE, which says which column is which field (docs/importing.md), or --map assay for our own export.${named === 'parquet' ? '' : columnsText(file, plain.path)}`,
    )
  }
  const mapping = withMeaning(given, options)
  const format = (options.format as LogFormat | undefined) ?? mapping.format ?? formatOf(file)
  if (format === null) {
    throw userError.usage(`${file}: say what it is, with --format jsonl, csv or parquet`)
  }
  return { lines: null, mapping, format, notes: [], isPartial: false }
}

/** The text of a log, if it is whole or may be cut. */
function wholeTextOf(
  { options: { file, partial = false }, plain, scratch }: OpenLog,
  delimiter: string | undefined,
): Promise<WholeText> {
  return wholeText({
    ...{ file, plain, partial, copy: join(scratch, 'text') },
    delimiter: delimiterIn(plain.path, delimiter),
  })
}

/** The delimiter of CSV: the one of the mapping, or of the first line; null for JSON. */
const delimiterIn = (path: string, mapped: string | undefined) =>
  isJson(path) ? null : (mapped ?? delimiterOf(beginningOf(path)))

/** What to say of a mapping for a file that needs none. */
function knownHint(
  { options }: OpenLog,
  mapping: Mapping,
  recognised: KnownFormat | null,
  rejected: number,
): readonly string[] {
  if (options.mapping === undefined || recognised === null || mapping.problem !== undefined) {
    return []
  }
  const meansMore = recognised.leavesOut !== undefined || recognised.isAmount !== undefined
  return rejected > 0 || meansMore
    ? [`this file is ${recognised.name}: without --map, all of its lines are understood`]
    : []
}

function unreadHint(path: string): readonly string[] {
  const names = unreadNames(path)
  return names.length === 0
    ? []
    : [`not read: ${names.join(', ')}; a --map says which fields they are`]
}

/** The mapping of a log whose lines are read one after the other; null if its columns say all. Lines of a bill are charges. */
function ruledMapping(options: FileImport, recognised: KnownFormat | null): Mapping | null {
  const { mapping } = options
  if (mapping === undefined || mapping.identified === true) return null
  const isBill = recognised?.isAmount !== undefined && mapping.amounts === undefined
  const full = withMeaning(isBill ? { ...mapping, amounts: 'disjoint' } : mapping, options)
  return hasLineRules(full) ? full : null
}

function withMeaning(mapping: Mapping, options: Meaning): Mapping {
  const { bucket, decimal, dateOrder, ambiguous, cached, timezone, tags } = options
  const { time } = mapping.fields
  const place = typeof time === 'string' ? { column: time, unit: 'auto' as const } : time
  return {
    ...mapping,
    ...given({ bucket, decimal, dateOrder, ambiguous, cached, tags }),
    fields: {
      ...mapping.fields,
      ...(timezone === undefined ? {} : { time: { ...place, timezone } }),
    },
  }
}

/** The first columns of a file, each with one value, and how to get a mapping. */
function columnsText(file: string, path: string): string {
  const columns = columnsSeen(path)
  if (columns.length === 0) return ''
  const shown = columns
    .slice(0, 12)
    .map(({ name, value }) => `\n  ${shownText(name)}: ${shownText(value)}`)
  const more = columns.length > 12 ? `\n  and ${columns.length - 12} more` : ''
  return ` It has${shown.join('')}${more}\nA mapping to begin with: assay import ${file} --suggest > map.yaml`
}

/** A mapping for a file with the names of our own fields. */
function ownNames(path: string, format: string | null): Mapping | null {
  if (format === 'parquet') return null
  const names = namesIn(path)
  const fields = plainFields.filter((name) => names.has(name))
  const isOwn = names.has('time') && fields.some((name) => !sharedNames.includes(name))
  return isOwn
    ? parseMapping(
        `fields: { time: time, ${fields.map((name) => `${name}: ${name}`).join(', ')} }`,
        path,
      )
    : null
}

/** Names that look like money or tokens, and are no names of ours. */
function unreadNames(path: string): readonly string[] {
  return [...namesIn(path)].filter(
    (name) =>
      !plainFields.includes(name) &&
      /cost|spend|spent|price|amount|charge|currency|(?<![a-z])(usd|eur)(?![a-z])|tokens?(?![a-z])/i.test(
        name,
      ),
  )
}

/** Names that records of any kind have: they alone make no log of usage. */
const sharedNames = [
  ...['id', 'end', 'type', 'status', 'account', 'key', 'unit', 'name', 'priority', 'models'],
  'expires',
]

const plainFields = [
  ...['id', 'end', 'type', 'model', 'endpoint', 'key', 'account', 'credits', 'unit'],
  ...mappedNames,
  ...['status', 'outcome', 'requests', 'refersTo', 'expires', 'name', 'priority', 'models'],
]

function toolOf({ format, mapping }: FileImport, read: string): RecordTool | null {
  const tool = recordTools.find((each) => each === format)
  if (tool !== undefined) return tool
  return format === undefined && mapping === undefined ? looksLikeRecords(read) : null
}
