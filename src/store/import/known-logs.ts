import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fingerprintOf } from '../../attempt/fingerprint.ts'
import { kindOfMapped } from '../../measure/usage/quantities.ts'
import { largest } from '../../user/extremes.ts'
import { jsonOf } from '../../user/json-text.ts'
import { isMapping } from '../../user/mapping.ts'
import { UserError } from '../../user/user-error.ts'
import { beginningOf, firstRecord, headerOf } from './csv-header.ts'
import { csvDocuments, jsonDocuments, type LogDocument, longestLine } from './formats/documents.ts'
import type { KnownFormat, Page } from './formats/format.ts'
import { knownFormats } from './formats/list.ts'
import { first } from './formats/row.ts'
import { hasDecimalCommas, plainCells } from './formats/spreadsheet.ts'
import { UnpricedLines } from './formats/unpriced-lines.ts'
import { Identities } from './lines/identity.ts'
import { ownTags, tagsOf } from './lines/read-lines.ts'
import type { Mapping } from './mapping.ts'
import { decodedFile } from './whole/decoded-file.ts'

/** A file for a known format: its name for users, and its plain text. */
export interface KnownFile {
  readonly file: string
  readonly path: string
}

const delimiters = [',', ';', '\t'] as const

/** Recognises a known log by its beginning; null for any other file. */
export function knownFormat(path: string): KnownFormat | null {
  const text = recognisableOf(path)
  if (/^\s*[[{]/.test(text)) {
    const has = (name: string) => new RegExp(`"${name}"\\s*:`).test(text)
    return knownFormats.find((format) => format.recognises(has, text)) ?? null
  }
  const names = firstRecord(text, delimiterOf(text))
  const has = (name: string) => names.includes(name)
  return knownFormats.find((format) => format.recognises(has, text)) ?? null
}

/** The beginning of a file, or more of it if its first line holds the text of a long request. */
function recognisableOf(path: string): string {
  const text = beginningOf(path)
  return text.includes('\n') ? text : beginningOf(path, longestLine)
}

/** The delimiter that cuts the first line most often. */
export function delimiterOf(text: string): string {
  const cells = (delimiter: string) => firstRecord(text, delimiter).length
  return delimiters.reduce((best, each) => (cells(each) > cells(best) ? each : best), ',')
}

/** The names in a file: columns of CSV, or keys of the first hundred lines of JSON, those of a whole line without inner ones. */
export function namesIn(path: string): ReadonlySet<string> {
  const text = beginningOf(path)
  if (!isJson(path)) return new Set(firstRecord(text, delimiterOf(text)))
  const lines = text.trimStart().split('\n', 100)
  return new Set(
    lines.flatMap((line) => {
      const value = jsonOf(line)
      if (isMapping(value)) return Object.keys(value)
      return [...line.matchAll(/"(\w+)"\s*:/g)].map(([, name]) => name!)
    }),
  )
}

export const isJson = (path: string) => /^\s*[[{]/.test(beginningOf(path))

/** The rows of a known log, as the lines that `normalRows` maps, and what to say about them. */
export interface KnownRows {
  readonly lines: Iterable<object | string>
  readonly mapping: Mapping
  readonly notes: readonly string[]
  /** Whether pages are missing, and the user accepts that. */
  readonly isPartial: boolean
}

/**
 * Reads the files of one known format together: the pages of a list may be in several files.
 *
 * @param partial accepts pages whose others are missing
 * @throws UserError for a missing page, a sum that differs from its rows, sums without a width, and a column that
 *   occurs twice
 */
export function readKnown(
  format: KnownFormat,
  files: readonly KnownFile[],
  { partial, bucket, tags = [] }: KnownReading,
): KnownRows {
  for (const { file, path } of files) {
    if (!isJson(path)) headerOf({ file, read: path }, delimiterOf(beginningOf(path)))
  }
  const notes = [...(format.note === undefined ? [] : [format.note])]
  const pages: { readonly file: string; readonly page: Page }[] = []
  const seen = new Set<string>()
  const overlapping = new Set<unknown>()
  let rows = 0
  for (const { file, document } of documentsOf(files)) {
    if (!isMapping(document) || 'unread' in document) continue
    const page = format.page?.(document) ?? null
    if (page !== null) pages.push({ file, page })
    const stated = format.stated?.(document) ?? null
    if (stated !== null && !agree(stated)) {
      const [summary, sum] = stated
      throw new UserError(
        'import',
        `${file}: its rows cost ${sum}, and it says ${summary}: rows are missing. Nothing was imported.`,
      )
    }
    if (rows < sampled) {
      for (const item of format.items(document)) {
        for (const name of Object.keys(item)) seen.add(name)
        if (format.overlapping !== undefined) overlapping.add(first(item[format.overlapping]))
        rows++
      }
    }
    // Lines have no pages.
    if (rows >= sampled && pages.length === 0 && stated === null) break
  }
  if (overlapping.size > 1) {
    throw new UserError(
      'import',
      `${files[0]!.file}: its rows are by ${format.overlapping}, and a request may be in several of them, so they do not add up. Export it without ${format.overlapping}. Nothing was imported.`,
    )
  }
  const missing = missingPage(pages)
  if (missing !== null && !partial) throw new UserError('import', missing)
  for (const each of changesOf(format, seen, rows)) notes.push(each)
  const needsWidth = format.needsWidth === true && !seen.has('end_time')
  if (needsWidth && rows > 0 && bucket === undefined) {
    throw new UserError(
      'import',
      `${basename(files[0]!.file)}: no end_time; name the width with --bucket 1d.`,
    )
  }
  return {
    lines: linesOf(format, files, notes, tags),
    mapping: {
      ...normalRows(format, needsWidth ? bucket : undefined),
      ...(tags.length === 0 ? {} : { tags: ownTags(tags.map(([name]) => name)) }),
    },
    notes,
    isPartial: missing !== null,
  }
}

interface KnownReading {
  readonly partial: boolean
  readonly bucket?: string | undefined
  /** Where a document has own dimensions. */
  readonly tags?: NonNullable<Mapping['tags']> | undefined
}

/** Rows of a file whose names are compared with those of its format. */
const sampled = 1000

function* documentsOf(
  files: readonly KnownFile[],
): Generator<{ readonly file: string; readonly document: LogDocument }> {
  for (const { file, path } of files) {
    const documents = isJson(path) ? jsonDocuments(path, file) : cellsOf(path)
    for (const document of documents) yield { file, document }
  }
}

/** The documents of a known log or of any other, one after the other. */
export function* plainDocuments(path: string): Generator<LogDocument> {
  for (const { document } of documentsOf([{ file: path, path }])) yield document
}

/** The rows of a CSV file. A spreadsheet with decimal commas cuts its cells by semicolons. */
function* cellsOf(path: string): Generator<LogDocument> {
  const delimiter = delimiterOf(beginningOf(path))
  const isSaved = delimiter === ';' && hasDecimalCommas(csvDocuments(path, delimiter))
  for (const document of csvDocuments(path, delimiter)) {
    yield isSaved ? plainCells(document) : document
  }
}

function* linesOf(
  format: KnownFormat,
  files: readonly KnownFile[],
  notes: string[],
  tags: NonNullable<Mapping['tags']>,
): Generator<object | string> {
  const reader = format.reader?.(notes)
  const identities = format.isAmount === undefined ? null : new Identities(format.isAmount)
  const unpriced = format.isAmount === undefined ? null : new UnpricedLines()
  let [all, left] = [0, 0]
  for (const { document } of documentsOf(files)) {
    if ('unread' in document) yield String(document.unread).replaceAll('\n', ' ')
    else {
      all++
      let isLeft = true
      for (const { key, ...row } of reader?.rows(document) ?? format.rows(document)) {
        isLeft = false
        if (unpriced?.isOther(row) === true) continue
        const isEmbedding = row.endpoint === 'embeddings' && (row.input ?? null) !== null
        yield {
          ...row,
          // An embedding generates nothing, so logs leave its output out.
          ...(isEmbedding ? { output: row.output ?? 0 } : {}),
          ...(first(key) === undefined ? {} : { keyFp: fingerprint(String(key)) }),
          ...(identities === null ? {} : { id: identities.of(document) }),
          ...tagsOf(document, tags),
        }
      }
      if (isLeft) left++
    }
  }
  reader?.end()
  for (const note of unpriced?.notes() ?? []) notes.push(note)
  if (format.leavesOut !== undefined && left > 0) {
    const count = (n: number) => n.toLocaleString('en-US')
    notes.push(`${count(left)} of ${count(all)} lines left out: ${format.leavesOut}`)
  }
}

/** The fingerprint of a key, or of the SHA-256 of a key, which gateways log. Both give the same. */
const fingerprint = (key: string) =>
  /^[0-9a-f]{64}$/.test(key) ? key.slice(0, 12) : fingerprintOf(key)

/** Sums of doubles differ in their last digits. */
function agree([stated, sum]: readonly [string, string]): boolean {
  const [a, b] = [Number(stated), Number(sum)]
  return Math.abs(a - b) <= 1e-9 * Math.max(1e-3, Math.abs(a), Math.abs(b))
}

/** What to say of pages of a list without the rest of it; null if all are there. */
function missingPage(
  pages: readonly { readonly file: string; readonly page: Page }[],
): string | null {
  const wants = '. Import all files of it together, or add --partial.'
  const numbered = pages.filter(({ page }) => page.pages !== undefined && page.pages > 1)
  const most = largest(
    numbered.map(({ page }) => page.pages!),
    0,
  )
  const there = new Set(numbered.map(({ page }) => page.number ?? 1))
  for (let number = 1; number <= most; number++) {
    if (there.has(number)) continue
    const { file, page } = numbered[0]!
    return `${file} is page ${page.number ?? 1} of ${most}: page ${number} is missing${wants}`
  }
  const last = pages.filter(({ page }) => page.hasMore === false).length
  for (const [at, { file, page }] of pages.entries()) {
    if (page.hasMore !== true || page.pages !== undefined) continue
    // Files of one list may be given in any order.
    if (pages[at + 1] === undefined && (last !== 1 || pages.length === 1)) {
      return `${file} is page ${at + 1}: its next page is missing. Import both files together, or add --partial.`
    }
  }
  const counted = pages.filter(({ page }) => page.total !== undefined && page.pages === undefined)
  const total = largest(
    counted.map(({ page }) => page.total!),
    0,
  )
  const rows = counted.reduce((sum, { page }) => sum + page.rows, 0)
  return rows < total ? `${counted[0]!.file} has ${rows} of ${total} rows${wants}` : null
}

/** What a format that has changed lacks, and what is new. */
function changesOf(
  format: KnownFormat,
  seen: ReadonlySet<string>,
  rows: number,
): readonly string[] {
  if (rows === 0) return []
  const missing = format.needed.filter((name) => !seen.has(name))
  const known = new Set(format.fields)
  const added = [...seen].filter((name) => !known.has(name))
  const isTable = format.fields.length <= 8
  return missing.length === 0
    ? []
    : [
        `${format.name} has changed: missing ${missing.join(', ')}${added.length === 0 || isTable ? '' : `; new ${added.slice(0, 20).join(', ')}`}`,
      ]
}

/** The mapping of the rows that known formats give. */
function normalRows(format: KnownFormat, bucket: string | undefined): Mapping {
  const { dimensions, ids = 'unique', durations, versions, types, newest } = format
  const isBill = format.isAmount !== undefined
  return {
    source: format.source,
    decimal: '.',
    cached: 'within',
    reasoning: 'within',
    ids,
    problem: 'problem',
    ...(bucket === undefined ? {} : { bucket }),
    ...(dimensions === undefined ? {} : { dimensions: [...dimensions] }),
    ...(isBill ? { identified: true } : {}),
    ...(newest === undefined ? {} : { newest }),
    fields: {
      ...(format.withoutIds === true || dimensions !== undefined ? {} : { id: 'id' }),
      time: 'time',
      ...((dimensions === undefined && !isBill) || bucket !== undefined ? {} : { end: 'end' }),
      ...(versions === true ? { version: 'version' } : {}),
      ...(types === true || isBill ? { type: 'type' } : {}),
      model: 'model',
      endpoint: 'endpoint',
      keyFp: 'keyFp',
      account: 'account',
      credits: 'cost',
      unit: 'unit',
      outcome: 'outcome',
      status: 'status',
      errorCode: 'errorCode',
      requests: 'requests',
      ...kindOfMapped,
      ...(durations === 'ms'
        ? { ttft: { column: 'ttftMs', unit: 'ms' }, latency: { column: 'latencyMs', unit: 'ms' } }
        : durations === 'times'
          ? { ttft: { from: 'began', to: 'firstToken' }, latency: { from: 'began', to: 'ended' } }
          : {}),
    },
  }
}

/**
 * Groups the files of a command whose pages belong to one list: consecutive files of one format, of which one says that
 * another page follows. Other files are groups of their own.
 */
export async function pageGroups(
  files: readonly string[],
): Promise<readonly (readonly string[])[]> {
  if (files.length < 2) return files.map((file) => [file])
  const scratch = mkdtempSync(join(tmpdir(), 'assay-pages-'))
  const copy = join(scratch, 'text')
  const groups: { files: string[]; format: KnownFormat | null; open: boolean }[] = []
  for (const file of files) {
    const { format, open, isPart } = await pagesIn(file, copy)
    const last = groups.at(-1)
    if (last?.open === true && format !== null && last.format === format) {
      last.files.push(file)
      last.open = isPart || open
    } else groups.push({ files: [file], format, open: isPart || open })
  }
  rmSync(scratch, { recursive: true })
  return groups.map((group) => group.files)
}

interface PagesIn {
  readonly format: KnownFormat | null
  /** Whether another page follows. */
  readonly open: boolean
  /** Whether it is one of several numbered pages. */
  readonly isPart: boolean
}

/** @param copy where a compressed file is unpacked */
async function pagesIn(file: string, copy: string): Promise<PagesIn> {
  const none = { format: null, open: false, isPart: false }
  if (!existsSync(file)) return none
  try {
    const { path } = await decodedFile(file, copy)
    const format = isJson(path) ? knownFormat(path) : null
    if (format?.page === undefined) return none
    const pages = [...jsonDocuments(path)].flatMap((document) =>
      'unread' in document ? [] : [format.page!(document)],
    )
    const page = pages.at(-1)
    return {
      format,
      open: page?.hasMore === true,
      isPart: (page?.pages ?? 1) > 1 || (page?.total !== undefined && page.rows < page.total),
    }
  } catch {
    // A damaged file gets its error when it is imported.
    return none
  }
}
