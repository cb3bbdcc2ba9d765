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
import { wholeText } from './whole/whole-text.ts'

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

async function importInto(store: Session, options: FileImport): Promise<FileImported> {
  const { file } = options
  if (!existsSync(file)) throw userError.usage(`${file}: no such file`)
  const rejectsFile = rejectsOf(file, options.rejectsFile)
  mustStandApart([
    { name: 'the rejects', path: rejectsFile, role: 'output' },
    { name: 'the log', path: file, role: 'input' },
  ])
  const scratch = scratchOf(store, rejectsFile)
  try {
    emptyScratch(scratch)
    return await importText(store, { ...options, rejectsFile }, scratch)
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
  store: Session,
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
    const { path, mapping, source } = await rejectedLines(store, rejected, options.mapping)
    return importLog(
      store,
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
    return { kind: 'records', ...(await importRecords(store, records)) }
  }
  if (named !== 'parquet') return importLog(store, options, plain, scratch)
  const isMapped = options.mapping !== undefined && hasLineRules(options.mapping)
  const isOpen = options.mapping === undefined || isMapped
  const text = isOpen ? await parquetText(store, { file, scratch, isMapped }) : null
  return text === null
    ? importLog(store, options, plain, scratch)
    : importLog(store, { ...options, format: 'jsonl' }, { path: text, isCut: false }, scratch)
}

async function importLog(
  store: Session,
  options: FileImport & { readonly rejectsFile: string },
  plain: DecodedFile,
  scratch: string,
): Promise<FileImported> {
  const { file, rejectsFile } = options
  const named = options.format ?? options.mapping?.format ?? formatOf(file)
  const recognised = named === 'parquet' ? null : knownFormat(plain.path)
  const known = options.mapping === undefined ? recognised : null
  const ruled = known === null ? ruledMapping(options, recognised) : null
  const partial = options.partial === true
  const whole =
    known === null && ruled === null
      ? null
      : await wholeText({
          file,
          plain,
          partial,
          copy: join(scratch, 'text'),
          delimiter: isJson(plain.path) ? null : (ruled?.delimiter ?? ','),
        })
  const pages = await Promise.all(
    (options.pages ?? []).map(async (page, at) => ({
      file: page,
      path: (await decodedFile(page, join(scratch, `page-${at}`), options.signal)).path,
    })),
  )
  const rows =
    ruled !== null
      ? readLines({
          path: whole!.path,
          mapping: ruled,
          isAmount: recognised?.isAmount,
          delimiter: isJson(whole!.path)
            ? null
            : (ruled.delimiter ?? delimiterOf(beginningOf(whole!.path))),
        })
      : known === null
        ? null
        : readKnown(known, [{ file, path: whole!.path }, ...pages], {
            partial,
            bucket: options.bucket,
            tags: options.tags,
          })
  const hasOwnNames = rows === null && options.mapping === undefined
  const given = rows?.mapping ?? options.mapping ?? ownNames(plain.path, named)
  if (given === null) {
    if (statSync(plain.path).size === 0) throw userError.usage(`${file} is empty.`)
    throw userError.usage(
      `${file}: a usage log needs --map FILE, which says which column is which field (docs/importing.md), or --map assay for our own export.${named === 'parquet' ? '' : columnsText(file, plain.path)}`,
    )
  }
  // The reader of a known log has read its tags.
  const { tags: _tags, ...untagged } = options
  const mapping =
    rows === null || ruled === null
      ? withMeaning(given, known === null ? options : untagged)
      : given
  const format =
    rows === null
      ? ((options.format as LogFormat | undefined) ?? mapping.format ?? formatOf(file))
      : 'jsonl'
  if (format === null) {
    throw userError.usage(`${file}: say what it is, with --format jsonl, csv or parquet`)
  }
  const { mapping: _, ...others } = options
  const counts = await importUsageLog(store, {
    ...others,
    file: [file, ...(options.pages ?? [])].join(', '),
    mapping,
    plain,
    lines: rows?.lines ?? null,
    isPartial: whole?.isPartial === true || rows?.isPartial === true,
    source: options.source ?? mapping.source ?? 'log',
    format,
    rejectsFile,
    nowUs: Date.now() * 1000,
  })
  const meansMore = recognised?.leavesOut !== undefined || recognised?.isAmount !== undefined
  const own =
    options.mapping !== undefined && (counts.rejected > 0 || meansMore) ? recognised : null
  const hint =
    own === null || mapping.problem !== undefined
      ? []
      : [`this file is ${own.name}: without --map, all of its lines are understood`]
  const unread = hasOwnNames ? unreadNames(plain.path) : []
  if (unread.length > 0) {
    hint.push(`not read: ${unread.join(', ')}; a --map says which fields they are`)
  }
  return { kind: 'log', ...counts, notes: [...(rows?.notes ?? []), ...counts.notes, ...hint] }
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
      /cost|spend|spent|price|amount|charge|currency|usd|eur|tokens?(?![a-z])/i.test(name),
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
