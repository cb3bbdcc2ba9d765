import { closeSync, openSync, writeSync } from 'node:fs'
import { basename, join } from 'node:path'
import { firstCells } from '../../user/csv.ts'
import { given } from '../../user/given.ts'
import { isObject, jsonOf, objectOf } from '../../user/json.ts'
import { userError } from '../../user/user-error.ts'
import type { Session } from '../session/session.ts'
import { beginningOf } from './csv-header.ts'
import { linesOf } from './formats/documents.ts'
import { type DurationPlace, type Mapping, type Place, parseMapping } from './mapping.ts'

/** A rejects file of an import, corrected: its lines as JSON Lines, and how to read them. */
interface RejectedLines {
  readonly path: string
  readonly mapping: Mapping
  /** Null if the import is not in this store. */
  readonly source: string | null
}

/** A row of a rejects file. Lines that were no CSV have the columns of their file. */
interface RejectedRow {
  readonly reason: string
  readonly line: string
  readonly columns: readonly string[] | null
  readonly delimiter: string | null
}

function rowOf(text: string): RejectedRow | null {
  const row = jsonOf(text)
  if (!isObject(row) || typeof row.reason !== 'string' || typeof row.line !== 'string') return null
  const { reason, line, columns = null, delimiter = null, ...others } = row
  if (Object.keys(others).length > 0) return null
  return {
    reason,
    line,
    columns: Array.isArray(columns) ? columns.map(String) : null,
    delimiter: typeof delimiter === 'string' ? delimiter : null,
  }
}

/** Whether a file is what an import rejected. */
export const isRejects = (path: string): boolean =>
  rowOf(beginningOf(path).split('\n', 1)[0]!) !== null

/**
 * Unwraps the lines of a rejects file. The mapping is the given one, or that of the import which rejected them.
 *
 * @param file its name for users; `path` is its plain text
 * @throws UserError if neither is known
 */
export async function rejectedLines(
  session: Session,
  { file, path, folder }: { readonly file: string; readonly path: string; readonly folder: string },
  given: Mapping | undefined,
): Promise<RejectedLines> {
  const [imported] = await session.rows<{ source: string; mapping_json: string }>(
    'SELECT source, mapping_json FROM usage_imports WHERE file = $1 ORDER BY import_no DESC LIMIT 1',
    [basename(file).replace(/\.rejects\.jsonl$/, '')],
  )
  const mapping = given ?? (imported === undefined ? null : storedMapping(imported.mapping_json))
  if (mapping === null) {
    throw userError.import(
      `${file} has the rejected lines of a log that is not in this store: give the mapping of the log with --map FILE.`,
    )
  }
  const into = join(folder, 'rejected.jsonl')
  const names = new Set<string>()
  const handle = openSync(into, 'w', 0o600)
  try {
    for (const text of linesOf(path)) {
      if (text.trim() !== '') writeSync(handle, `${unwrapped(text, mapping, names)}\n`)
    }
  } finally {
    closeSync(handle)
  }
  return { path: into, mapping: withFlatNames(mapping, names), source: imported?.source ?? null }
}

function storedMapping(json: string): Mapping {
  const { optional, problem, identified, table, newest, tagsColumn, ...written } = JSON.parse(
    json,
  ) as Mapping
  return {
    ...parseMapping(JSON.stringify(written), 'the mapping of the store'),
    ...given({ optional, problem, identified, table, newest, tagsColumn }),
  }
}

/** A line of the log as JSON; as it is if it still is none. */
function unwrapped(text: string, mapping: Mapping, names: Set<string>): string {
  const row = rowOf(text)
  if (row === null) return text
  const { line, columns, delimiter } = row
  const plain = line.replaceAll('\n', ' ')
  const fields = jsonOf(plain)
  if (fields !== undefined) {
    for (const name of Object.keys(objectOf(fields))) names.add(name)
    return plain
  }
  const cells = columns && firstCells(line, delimiter ?? mapping.delimiter ?? ',')
  if (columns === null || cells?.length !== columns.length) return plain
  for (const name of columns) names.add(name)
  return JSON.stringify(Object.fromEntries(columns.map((name, at) => [name, cells[at]])))
}

/** Columns of a table are names of JSON, even with dots. */
function withFlatNames(mapping: Mapping, names: ReadonlySet<string>): Mapping {
  const flat = (column: string | readonly string[]) =>
    typeof column === 'string' && names.has(column) ? [column] : column
  const place = (at: Place | DurationPlace | readonly string[]) => {
    if (typeof at === 'string') return names.has(at) ? { column: [at] } : at
    if ('from' in at) return { from: flat(at.from), to: flat(at.to) }
    return 'column' in at ? { ...at, column: flat(at.column) } : at
  }
  const { time } = mapping.fields
  const full = typeof time === 'string' ? { column: time, unit: 'auto', timezone: 'UTC' } : time
  const fields = Object.entries({ ...mapping.fields, time: full }).map(([name, at]) => [
    name,
    place(at as Place),
  ])
  const tags = mapping.tags?.map(([name, at]) => [name, place(at)] as [string, Place])
  return {
    ...mapping,
    ...given({ tags }),
    fields: Object.fromEntries(fields) as Mapping['fields'],
  }
}
