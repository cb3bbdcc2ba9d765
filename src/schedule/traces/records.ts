import { withoutMark } from '../../user/byte-order-mark.ts'
import { jsonOf } from '../../user/json-text.ts'
import { isMapping } from '../../user/mapping.ts'
import { userError } from '../../user/user-error.ts'

/** One row of a trace as it is written: cells of a CSV, or fields of a JSON object. */
export interface TraceRecord {
  /** From 1. */
  readonly line: number
  readonly text: string
  readonly fields: Readonly<Record<string, unknown>>
}

/**
 * The rows of a file of JSON Lines, of one JSON list, or of a CSV with a header: commas, semicolons or tabs.
 *
 * @throws UserError with the line that is neither
 */
export function recordsOf(text: string, path: string): readonly TraceRecord[] {
  if (/^\uFEFF?\s*\[/.test(text)) return listOf(text, path)
  const lines = withoutMark(text).split(/\r?\n/)
  const first = lines.findIndex((line) => line.trim() !== '')
  if (first === -1) return []
  const isJson = lines[first]!.trimStart().startsWith('{')
  const delimiter = isJson ? ',' : delimiterOf(lines[first]!)
  const head = isJson ? null : cellsOf(lines[first]!, delimiter)
  const records: TraceRecord[] = []
  for (const [at, line] of lines.entries()) {
    if (line.trim() === '' || (head !== null && at === first)) continue
    const fields = head === null ? jsonLine(line, path, at + 1) : csvLine(line, head, delimiter)
    records.push({ line: at + 1, text: line, fields })
  }
  return records
}

function listOf(text: string, path: string): readonly TraceRecord[] {
  let list: readonly unknown[]
  try {
    list = JSON.parse(withoutMark(text)) as readonly unknown[]
  } catch {
    throw userError.trace(
      `${path} begins as a JSON list, and is none: it is cut off, or has a comma too many. Write a whole list, or one object a line.`,
    )
  }
  return list.map((value, at) => {
    if (isMapping(value)) return { line: at + 1, text: JSON.stringify(value), fields: value }
    throw userError.trace(`${path}, entry ${at + 1}: expected a JSON object.`)
  })
}

function csvLine(
  line: string,
  head: readonly string[],
  delimiter: Delimiter,
): TraceRecord['fields'] {
  const cells = cellsOf(line, delimiter)
  return Object.fromEntries(head.map((name, at) => [name, cells[at]]))
}

type Delimiter = ',' | ';' | '\t'

/** The one that a header has outside of its quotes. */
function delimiterOf(header: string): Delimiter {
  const bare = header.replaceAll(/"[^"]*"/g, '')
  return ([',', ';', '\t'] as const).find((each) => bare.includes(each)) ?? ','
}

const cellsBy: Readonly<Record<Delimiter, RegExp>> = {
  ',': /(?:^|,)(?: *"((?:[^"]|"")*)" *|([^,]*))/g,
  ';': /(?:^|;)(?: *"((?:[^"]|"")*)" *|([^;]*))/g,
  '\t': /(?:^|\t)(?: *"((?:[^"]|"")*)" *|([^\t]*))/g,
}

/** The cells of a line; a quoted cell may hold the delimiter. */
export function cellsOf(line: string, delimiter: Delimiter = ','): readonly string[] {
  const cells = line.matchAll(cellsBy[delimiter])
  return Array.from(cells, ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain!.trim())
}

function jsonLine(line: string, path: string, number: number): TraceRecord['fields'] {
  // Lines that were cut out of a list end with a comma.
  const value = jsonOf(line.replace(/,\s*$/, ''))
  if (typeof value === 'object' && value !== null) return value as TraceRecord['fields']
  throw userError.trace(
    `${path}, line ${number}: expected a JSON object; got ${line.slice(0, 80)}.`,
  )
}

/** A number that a cell or a field holds; NaN for anything else. */
export function numberOf(value: unknown): number {
  if (typeof value === 'number') return value
  return typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN
}

/** A count of tokens; null for anything else. */
export function tokensOf(value: unknown): number | null {
  const number = numberOf(value)
  return Number.isFinite(number) && number >= 0 ? Math.round(number) : null
}

/** @throws UserError that names the line and what was expected there */
export function refuse(record: TraceRecord, path: string, expected: string): never {
  throw userError.trace(
    `${path}, line ${record.line}: expected ${expected}; got ${record.text.slice(0, 80)}.`,
  )
}
