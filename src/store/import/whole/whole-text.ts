import {
  closeSync,
  copyFileSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  truncateSync,
} from 'node:fs'
import { userError } from '../../../user/user-error.ts'
import { beginningOf } from '../csv-header.ts'
import { parses } from '../formats/documents.ts'
import { isOneList } from '../json-list.ts'
import { csvRecords } from './csv-records.ts'
import type { DecodedFile } from './decoded-file.ts'
import { objectsOnLines } from './json-lines.ts'
import { jsonValues } from './json-values.ts'

export interface WholeText {
  /** Plain UTF-8 text: the file itself, or the copy. */
  readonly path: string
  /** Whether the end of the file is missing, and the user accepts that. */
  readonly isPartial: boolean
}

export interface TextFile {
  /** Its name for users. */
  readonly file: string
  readonly plain: DecodedFile
  /** Where a copy goes, if one is needed. */
  readonly copy: string
  /** The delimiter of a CSV file; null for JSON. */
  readonly delimiter: string | null
  /** Takes the whole lines of a file that ends in the middle. */
  readonly partial: boolean
}

/**
 * A log as text, if it is whole. A JSON document must parse, and so must the last line of JSON Lines. A CSV file must
 * end with a line break outside of quotes: without it, nothing shows whether its last cell was cut.
 *
 * @throws UserError for a file that ends in the middle
 */
export async function wholeText(text: TextFile): Promise<WholeText> {
  const { path, isCut } = text.plain
  const end =
    text.delimiter === null ? endOfJson(path) : await endOfCsv(path, text.delimiter, isCut)
  if (!isCut && end.isWhole) return { path, isPartial: false }
  const summary = `${text.file} ends in the middle`
  if (end.wholeBytes === 0) {
    throw userError.import(`${summary}: it has no whole line. Nothing was imported.`)
  }
  if (!text.partial) {
    const count = end.lines()
    const lines = `${count.toLocaleString('en-US')} whole ${count === 1 ? 'line' : 'lines'}`
    const why = !isCut && text.delimiter !== null ? ', without a line break' : ''
    throw userError.import(
      `${summary}${why} (${lines}). Nothing was imported. Add --partial to import the whole lines${why === '' ? '' : ', or a line break if the last line is whole'}.`,
    )
  }
  if (path !== text.copy) copyFileSync(path, text.copy)
  truncateSync(text.copy, end.wholeBytes)
  return { path: text.copy, isPartial: true }
}

interface End {
  readonly isWhole: boolean
  /** The length of the whole lines; 0 if there are none. */
  readonly wholeBytes: number
  lines(): number
}

async function endOfCsv(path: string, delimiter: string, isCut: boolean): Promise<End> {
  const { tail, size } = tailOf(path)
  const last = tail.at(-1)
  if (!isCut && (last === undefined || last === lineFeed || last === carriageReturn)) {
    return { isWhole: true, wholeBytes: size, lines: () => 0 }
  }
  const { records, endBytes } = await csvRecords(path, delimiter)
  // The header alone is no line.
  const lines = Math.max(0, records - 1)
  return { isWhole: false, wholeBytes: lines > 0 ? endBytes : 0, lines: () => lines }
}

const [lineFeed, carriageReturn] = [0x0a, 0x0d]

/** JSON Lines, a list, or one document over several lines. */
function endOfJson(path: string): End {
  const { tail, size } = tailOf(path)
  const head = beginningOf(path).trimStart()
  const lines = () => linesIn(path)
  if (isOneList(path)) return { isWhole: /\]\s*$/.test(tail.toString()), wholeBytes: 0, lines }
  if (head.startsWith('{') && head.includes('\n') && objectsOnLines(head) === 'none') {
    const isWhole = size < longestDocument && isJsonText(readFileSync(path, 'utf8'))
    return { isWhole, wholeBytes: 0, lines }
  }
  const afterBreak = tail.lastIndexOf(lineFeed) + 1
  const last = tail.toString('utf8', afterBreak)
  const isWhole = last.length > longestTail / 2 ? /\}\s*$/.test(last) : jsonValues(last) !== null
  return { isWhole, wholeBytes: afterBreak === 0 ? 0 : size - tail.length + afterBreak, lines }
}

const longestDocument = 500e6
/** More than the longest line that an import reads. */
const longestTail = 33_554_432

function tailOf(path: string): { readonly tail: Buffer; readonly size: number } {
  const handle = openSync(path, 'r')
  const { size } = fstatSync(handle)
  const read = (length: number) => {
    const tail = Buffer.alloc(Math.min(size, length))
    readSync(handle, tail, 0, tail.length, size - tail.length)
    return tail
  }
  const short = read(65_536)
  const tail = short.includes(lineFeed) ? short : read(longestTail)
  closeSync(handle)
  return { tail, size }
}

function linesIn(path: string): number {
  const handle = openSync(path, 'r')
  const chunk = Buffer.alloc(1 << 20)
  let lines = 0
  for (let length = 1; length > 0; ) {
    length = readSync(handle, chunk)
    for (
      let at = chunk.indexOf(lineFeed);
      at >= 0 && at < length;
      at = chunk.indexOf(lineFeed, at + 1)
    )
      lines++
  }
  closeSync(handle)
  return lines
}

/** One JSON document, or several that follow each other. */
const isJsonText = (text: string) => parses(text) || jsonValues(text)?.every(parses) === true
