import { UserError } from '../../user/user-error.ts'

/** One row of a trace as it is written: cells of a CSV, or fields of a JSON object. */
export interface TraceRecord {
  /** From 1. */
  readonly line: number
  readonly text: string
  readonly fields: Readonly<Record<string, unknown>>
}

/**
 * The rows of a file of JSON Lines or of a CSV with a header.
 *
 * @throws UserError with the line that is neither
 */
export function recordsOf(text: string, path: string): readonly TraceRecord[] {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  const first = lines.findIndex((line) => line.trim() !== '')
  if (first === -1) return []
  const head = lines[first]!.trimStart().startsWith('{') ? null : cellsOf(lines[first]!)
  const records: TraceRecord[] = []
  for (const [at, line] of lines.entries()) {
    if (line.trim() === '' || (head !== null && at === first)) continue
    const fields = head === null ? jsonLine(line, path, at + 1) : csvLine(line, head)
    records.push({ line: at + 1, text: line, fields })
  }
  return records
}

function csvLine(line: string, head: readonly string[]): TraceRecord['fields'] {
  const cells = cellsOf(line)
  return Object.fromEntries(head.map((name, at) => [name, cells[at]]))
}

/** The cells of a line; a quoted cell may hold commas. */
export function cellsOf(line: string): readonly string[] {
  const cells = line.matchAll(/(?:^|,)(?:\s*"((?:[^"]|"")*)"\s*|([^,]*))/g)
  return Array.from(cells, ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain!.trim())
}

function jsonLine(line: string, path: string, number: number): TraceRecord['fields'] {
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value === 'object' && value !== null) return value as TraceRecord['fields']
  } catch {
    // The error below shows the line.
  }
  throw new UserError(
    'trace',
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
  throw new UserError(
    'trace',
    `${path}, line ${record.line}: expected ${expected}; got ${record.text.slice(0, 80)}.`,
  )
}
