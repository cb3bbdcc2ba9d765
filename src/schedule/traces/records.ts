import { withoutMark } from '../../user/byte-order-mark.ts'
import { csvDelimiter, csvRecords, unclosedText } from '../../user/csv.ts'
import { isObject, jsonOf } from '../../user/json.ts'
import { userError } from '../../user/user-error.ts'

/** One row of a trace as it is written: cells of a CSV, or fields of a JSON object. */
export interface TraceRecord {
  /** Where it stands: `line 3` of a file, or `entry 3` of a list. */
  readonly place: string
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
  const written = withoutMark(text)
  return written.trimStart().startsWith('{') ? jsonLines(written, path) : csvLines(written, path)
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
    const place = `entry ${at + 1}`
    if (isObject(value)) return { place, text: JSON.stringify(value), fields: value }
    throw userError.trace(`${path}, ${place}: expected a JSON object.`)
  })
}

function csvLines(text: string, path: string): readonly TraceRecord[] {
  const written = [...csvRecords([text], csvDelimiter(text.trimStart()))]
  const [head, ...rows] = written.filter((record) => record.text.trim() !== '')
  const openLine = written.at(-1)?.openQuoteLine ?? null
  if (openLine !== null) throw userError.trace(`${path}: ${unclosedText(openLine)}`)
  const names = head?.cells.map((name) => name.trim()) ?? []
  return rows.map(({ cells, text: row, line }) => {
    const record = {
      place: `line ${line}`,
      text: row,
      fields: Object.fromEntries(names.map((name, at) => [name, cells[at]?.trim()])),
    }
    // Its values would stand under other names.
    const isTooLong = cells.slice(names.length).some((cell) => cell.trim() !== '')
    return isTooLong ? refuse(record, path, `${names.length} cells, as in the header`) : record
  })
}

function jsonLines(text: string, path: string): readonly TraceRecord[] {
  return text.split(/\r?\n/).flatMap((line, at) => {
    if (line.trim() === '') return []
    // Lines that were cut out of a list end with a comma.
    const value = jsonOf(line.replace(/,\s*$/, ''))
    const record = { place: `line ${at + 1}`, text: line, fields: {} }
    return [isObject(value) ? { ...record, fields: value } : refuse(record, path, 'a JSON object')]
  })
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

/** @throws UserError that names the place and what was expected there */
export function refuse(record: TraceRecord, path: string, expected: string): never {
  throw userError.trace(
    `${path}, ${record.place}: expected ${expected}; got ${record.text.slice(0, 80)}.`,
  )
}
