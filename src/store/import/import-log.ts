import { statSync } from 'node:fs'
import { join } from 'node:path'
import { csvDelimiter } from '../../user/csv.ts'
import { given } from '../../user/given.ts'
import { userError } from '../../user/user-error.ts'
import type { Session } from '../session/session.ts'
import { beginningOf } from './csv-header.ts'
import type { KnownFormat } from './formats/format.ts'
import type { FileImport, Meaning } from './import-options.ts'
import { readKnown } from './known-logs.ts'
import { hasLineRules, readLines } from './lines/read-lines.ts'
import type { LogFormat, Mapping } from './mapping.ts'
import { isJson, knownFormat } from './recognised-log.ts'
import { columnsText, ownNames, unreadHint } from './unmapped-log.ts'
import { formatOf, type ImportedLog, importUsageLog } from './usage-log.ts'
import { type DecodedFile, decodedFile } from './whole/decoded-file.ts'
import { type WholeText, wholeText } from './whole/whole-text.ts'

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

/**
 * Imports a log whose text is plain: a known one, by the rules of its mapping, or by its columns.
 *
 * @param scratch a folder for parts of it
 * @throws UserError for a log that is not whole, or that no mapping explains
 */
export async function importLog(
  session: Session,
  options: OpenLog['options'],
  plain: DecodedFile,
  scratch: string,
): Promise<{ readonly kind: 'log' } & ImportedLog> {
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
    (options.pages ?? []).map(async (page, at) => {
      const copy = join(scratch, `page-${at}`)
      const plain = await decodedFile(page, copy, options.signal)
      const delimiter = delimiterIn(plain.path, undefined)
      return { file: page, ...(await wholeText({ file: page, plain, copy, delimiter, partial })) }
    }),
  )
  const rows = readKnown(known, [{ file, path: whole.path }, ...pages], { partial, bucket, tags })
  return {
    lines: rows.lines,
    mapping: withMeaning(rows.mapping, meaning),
    format: 'jsonl',
    notes: rows.notes,
    isPartial: [whole, ...pages, rows].some(({ isPartial }) => isPartial),
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
    isAmount: recognised?.amountColumns,
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
  isJson(path) ? null : (mapped ?? csvDelimiter(beginningOf(path)))

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
  const meansMore = recognised.leavesOut !== undefined || recognised.amountColumns !== undefined
  return rejected > 0 || meansMore
    ? [`this file is ${recognised.name}: without --map, all of its lines are understood`]
    : []
}

/** The mapping of a log whose lines are read one after the other; null if its columns say all. Lines of a bill are charges. */
function ruledMapping(options: FileImport, recognised: KnownFormat | null): Mapping | null {
  const { mapping } = options
  if (mapping === undefined || mapping.identified === true) return null
  const isBill = recognised?.amountColumns !== undefined && mapping.amounts === undefined
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
