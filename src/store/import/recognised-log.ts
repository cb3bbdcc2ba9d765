import { csvDelimiter, firstCells } from '../../user/csv.ts'
import { isObject, jsonOf } from '../../user/json.ts'
import { beginningOf } from './csv-header.ts'
import { csvDocuments, jsonDocuments, type LogDocument, longestLine } from './formats/documents.ts'
import type { KnownFormat } from './formats/format.ts'
import { knownFormats } from './formats/list.ts'
import { hasDecimalCommas, plainCells } from './formats/spreadsheet.ts'

/** A file for a known format: its name for users, and its plain text. */
export interface KnownFile {
  readonly file: string
  readonly path: string
}

/** Recognises a known log by its beginning; null for any other file. */
export function knownFormat(path: string): KnownFormat | null {
  const text = recognisableOf(path)
  if (/^\s*[[{]/.test(text)) {
    const has = (name: string) => new RegExp(`"${name}"\\s*:`).test(text)
    return knownFormats.find((format) => format.recognises(has, text)) ?? null
  }
  const names = firstCells(text, csvDelimiter(text))
  const has = (name: string) => names.includes(name)
  return knownFormats.find((format) => format.recognises(has, text)) ?? null
}

/** The beginning of a file, or more of it if its first line holds the text of a long request. */
function recognisableOf(path: string): string {
  const text = beginningOf(path)
  return text.includes('\n') ? text : beginningOf(path, longestLine)
}

/** The names in a file: columns of CSV, or keys of the first hundred lines of JSON, those of a whole line without inner ones. */
export function namesIn(path: string): ReadonlySet<string> {
  const text = beginningOf(path)
  if (!isJson(path)) return new Set(firstCells(text, csvDelimiter(text)))
  const lines = text.trimStart().split('\n', 100)
  return new Set(
    lines.flatMap((line) => {
      const value = jsonOf(line)
      if (isObject(value)) return Object.keys(value)
      return [...line.matchAll(/"(\w+)"\s*:/g)].map(([, name]) => name!)
    }),
  )
}

export const isJson = (path: string) => /^\s*[[{]/.test(beginningOf(path))

/** The documents of several files, each with its file. */
export function* documentsOf(
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
  const delimiter = csvDelimiter(beginningOf(path))
  const isSaved = delimiter === ';' && hasDecimalCommas(csvDocuments(path, delimiter))
  for (const document of csvDocuments(path, delimiter)) {
    yield isSaved ? plainCells(document) : document
  }
}
