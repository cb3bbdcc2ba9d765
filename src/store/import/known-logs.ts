import { basename } from 'node:path'
import { kindOfMapped } from '../../measure/usage/quantities.ts'
import { csvDelimiter } from '../../user/csv.ts'
import { isObject } from '../../user/json.ts'
import { userError } from '../../user/user-error.ts'
import { beginningOf, headerOf } from './csv-header.ts'
import { type FormatReader, itemsOf, type KnownFormat, type Page } from './formats/format.ts'
import { first, type NormalRow } from './formats/row.ts'
import { UnpricedLines } from './formats/unpriced-lines.ts'
import { fingerprintIn, lastFourOf } from './key-forms.ts'
import { Identities } from './lines/identity.ts'
import { ownTags, tagsOf } from './lines/read-lines.ts'
import { missingPage } from './log-pages.ts'
import type { Mapping } from './mapping.ts'
import { documentsOf, isJson, type KnownFile } from './recognised-log.ts'

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
    if (!isJson(path)) headerOf({ file, read: path }, csvDelimiter(beginningOf(path)))
  }
  const notes = [...(format.note === undefined ? [] : [format.note])]
  const pages: { readonly file: string; readonly page: Page }[] = []
  const seen = new Set<string>()
  const overlapping = new Set<unknown>()
  let rows = 0
  for (const { file, document } of documentsOf(files)) {
    if (!isObject(document) || 'unread' in document) continue
    const page = format.page?.(document) ?? null
    if (page !== null) pages.push({ file, page })
    const stated = format.stated?.(document) ?? null
    if (stated !== null && !agree(stated)) {
      const [summary, sum] = stated
      throw userError.import(
        `${file}: its rows cost ${sum}, and it says ${summary}: rows are missing. Nothing was imported.`,
      )
    }
    if (rows < sampled) {
      for (const item of itemsOf(format, document)) {
        for (const name of Object.keys(item)) seen.add(name)
        if (format.overlappingColumn !== undefined)
          overlapping.add(first(item[format.overlappingColumn]))
        rows++
      }
    }
    // Lines have no pages.
    if (rows >= sampled && pages.length === 0 && stated === null) break
  }
  if (overlapping.size > 1) {
    throw userError.import(
      `${files[0]!.file}: its rows are by ${format.overlappingColumn}, and a request may be in several of them, so they do not add up. Export it without ${format.overlappingColumn}. Nothing was imported.`,
    )
  }
  const missing = missingPage(pages)
  if (missing !== null && !partial) throw userError.import(missing)
  for (const each of changesOf(format, seen, rows)) notes.push(each)
  const needsWidth = format.needsWidth === true && !seen.has('end_time')
  if (needsWidth && rows > 0 && bucket === undefined) {
    throw userError.import(
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

function* linesOf(
  format: KnownFormat,
  files: readonly KnownFile[],
  notes: string[],
  tags: NonNullable<Mapping['tags']>,
): Generator<object | string> {
  const reader = format.reader?.(notes) ?? plainReader(format)
  const identities =
    format.amountColumns === undefined ? null : new Identities(format.amountColumns)
  const unpriced = format.amountColumns === undefined ? null : new UnpricedLines()
  let [all, left] = [0, 0]
  for (const { document } of documentsOf(files)) {
    if ('unread' in document) yield String(document.unread).replaceAll('\n', ' ')
    else {
      all++
      let isLeft = true
      for (const { key, lastFour, ...row } of reader.rows(document)) {
        isLeft = false
        if (unpriced?.isOther(row) === true) continue
        const isEmbedding = row.endpoint === 'embeddings' && (row.input ?? null) !== null
        yield {
          ...row,
          ...problemOf(row),
          // An embedding generates nothing, so logs leave its output out.
          ...(isEmbedding ? { output: row.output ?? 0 } : {}),
          ...keyOf(key, lastFour),
          ...(identities === null ? {} : { id: identities.of(document) }),
          ...tagsOf(document, tags),
        }
      }
      if (isLeft) left++
    }
  }
  reader.end()
  for (const note of unpriced?.notes() ?? []) notes.push(note)
  if (format.leavesOut !== undefined && left > 0) {
    const count = (n: number) => n.toLocaleString('en-US')
    notes.push(`${count(left)} of ${count(all)} lines left out: ${format.leavesOut}`)
  }
}

/** Durations that cannot be read are not known; the rest of their line is. */
const durations: readonly string[] = ['ttftMs', 'latencyMs']

/** JSON has no text for a number that could not be read, so the line would lack it without a word. */
function problemOf(row: NormalRow): Pick<NormalRow, 'problem'> {
  const unread = Object.keys(row).find(
    (name) => Number.isNaN(row[name]) && !durations.includes(name),
  )
  return unread === undefined || row.problem !== undefined
    ? {}
    : { problem: `${unread}: expected a number` }
}

/** Reads each item by itself. */
const plainReader = (format: KnownFormat): FormatReader => ({
  *rows(document) {
    for (const item of itemsOf(format, document)) yield* format.rows(item)
  },
  end() {},
})

/** What is kept of a key. @param shown a redacted form of it, if the row has one */
function keyOf(key: unknown, shown: unknown): Pick<NormalRow, 'keyFp' | 'lastFour'> {
  const text = first(shown, key)
  const lastFour = text === undefined ? null : lastFourOf(String(text))
  return {
    ...(first(key) === undefined ? {} : { keyFp: fingerprintIn(String(key)) }),
    ...(lastFour === null ? {} : { lastFour }),
  }
}

/** Sums of doubles differ in their last digits. */
function agree([stated, sum]: readonly [string, string]): boolean {
  const [a, b] = [Number(stated), Number(sum)]
  return Math.abs(a - b) <= 1e-9 * Math.max(1e-3, Math.abs(a), Math.abs(b))
}

/** What a format that has changed lacks, and what is new. */
function changesOf(
  format: KnownFormat,
  seen: ReadonlySet<string>,
  rows: number,
): readonly string[] {
  if (rows === 0) return []
  const missing = (format.needed ?? []).filter((name) => !seen.has(name))
  const fields = format.fields?.split(' ') ?? []
  const known = new Set(fields)
  const added = [...seen].filter((name) => !known.has(name))
  const isTable = fields.length <= 8
  return missing.length === 0
    ? []
    : [
        `${format.name} has changed: missing ${missing.join(', ')}${added.length === 0 || isTable ? '' : `; new ${added.slice(0, 20).join(', ')}`}`,
      ]
}

/** The mapping of the rows that known formats give. */
function normalRows(format: KnownFormat, bucket: string | undefined): Mapping {
  const { dimensions, repeatsIds, durations, hasVersions, hasTypes, newest } = format
  const isBill = format.amountColumns !== undefined
  return {
    source: format.source,
    decimal: '.',
    cached: 'within',
    reasoning: 'within',
    ids: repeatsIds === true ? 'repeat' : 'unique',
    problem: 'problem',
    ...(bucket === undefined ? {} : { bucket }),
    ...(dimensions === undefined ? {} : { dimensions: [...dimensions] }),
    ...(isBill ? { identified: true } : {}),
    ...(newest === undefined ? {} : { newest }),
    fields: {
      ...(format.withoutIds === true || dimensions !== undefined ? {} : { id: 'id' }),
      time: 'time',
      ...((dimensions === undefined && !isBill) || bucket !== undefined ? {} : { end: 'end' }),
      ...(hasVersions === true ? { version: 'version' } : {}),
      ...(hasTypes === true || isBill ? { type: 'type' } : {}),
      model: 'model',
      endpoint: 'endpoint',
      keyFp: 'keyFp',
      lastFour: 'lastFour',
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
