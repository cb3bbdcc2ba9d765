import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import { csvRecords } from '../../../user/csv.ts'
import { isObject, jsonOf } from '../../../user/json.ts'
import { userError } from '../../../user/user-error.ts'
import { beginningOf } from '../csv-header.ts'
import { jsonValues } from '../whole/json-values.ts'
import type { Fields } from './row.ts'

/** A document of a known log, or a text that is none. */
export type LogDocument = Fields | { readonly unread: string }

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown

/** Numbers as their text. A double keeps 15 digits, so shorter ones need no text. */
const exactly: Reviver = (_, value, { source }) =>
  typeof value === 'number' && source !== undefined && source.length > 15 ? source : value

/** Parses JSON without losing a digit of its numbers: those of more than 15 characters are text. */
export function parseExact(text: string): unknown {
  return /\d[\d.]{15}/.test(text)
    ? JSON.parse(text, exactly as (key: string, value: unknown) => unknown)
    : JSON.parse(text)
}

/** Letters of a line; longer ones are rejected, whatever reads them. */
export const longestLine = 16_000_000

/**
 * The documents of a JSON file: one, several that follow each other, one per line, or the elements of a list.
 *
 * @param file its name for users; `path` is its plain text
 * @throws UserError for a text that is neither
 */
export function* jsonDocuments(path: string, file = path): Generator<LogDocument> {
  const head = beginningOf(path).trimStart()
  const [line] = head.split('\n', 1)
  // A first line that is longer than the beginning is no sign of one document over several lines.
  const isOne = head.startsWith('[') || (head.includes('\n') && !parses(line!))
  if (isOne) {
    for (const whole of wholeValues(readFileSync(path, 'utf8'), file)) {
      for (const each of Array.isArray(whole) ? whole : [whole]) {
        yield isObject(each) ? each : { unread: JSON.stringify(each) }
      }
    }
    return
  }
  for (const text of linesOf(path)) {
    if (text.trim() === '') continue
    let document: unknown = null
    try {
      if (text.length <= longestLine) document = parseExact(text)
    } catch {
      // The line is rejected.
    }
    yield isObject(document) ? document : { unread: text }
  }
}

function* wholeValues(text: string, file: string): Generator<unknown> {
  if (parses(text)) return yield parseExact(text)
  for (const value of jsonValues(text) ?? ['']) {
    if (!parses(value)) {
      throw userError.import(`${file} is not JSON from its start to its end. Nothing was imported.`)
    }
    yield parseExact(value)
  }
}

export const parses = (text: string): boolean => jsonOf(text) !== undefined

/** The lines of a text file. */
export function* linesOf(path: string): Generator<string> {
  let rest = ''
  for (const text of chunksOf(path)) {
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    yield* lines
  }
  if (rest !== '') yield rest
}

function* chunksOf(path: string): Generator<string> {
  const handle = openSync(path, 'r')
  const decoder = new StringDecoder('utf8')
  const chunk = Buffer.alloc(1 << 20)
  try {
    for (;;) {
      const length = readSync(handle, chunk)
      if (length === 0) return
      yield decoder.write(chunk.subarray(0, length))
    }
  } finally {
    closeSync(handle)
  }
}

/** The rows of a CSV file, by the names of its header. A row with other cells than the header is unread. */
export function* csvDocuments(path: string, delimiter: string): Generator<LogDocument> {
  let names: readonly string[] | null = null
  for (const { cells, text } of csvRecords(chunksOf(path), delimiter)) {
    if (names === null) names = cells
    else if (cells.length === names.length) {
      yield Object.fromEntries(names.map((name, at) => [name, cells[at]]))
    } else yield { unread: text }
  }
}
