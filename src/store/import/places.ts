import { literal } from '../literal.ts'
import type { FieldName, Mapping, Place } from './mapping.ts'

/**
 * How a format reads a column: `text` as VARCHAR, `raw` as the file has it, `kind` its type if the file has types. A
 * column of whole numbers or decimals is `exact`: a cast of its own type loses nothing.
 */
export interface ColumnReader {
  text(column: Column): string
  kind(column: Column): 'text' | 'timestamp' | 'timestamptz' | 'exact' | 'other'
  raw(column: Column): string
}

/** A column of a table, or a path in JSON: with dots, or as a list of steps. */
export type Column = string | readonly string[]

/** The name of a column, or a path with dots. */
export const nameOfColumn = (column: Column): string =>
  typeof column === 'string' ? column : column.join('.')

/** The steps of a path. In a list each element is one step, even with dots. */
export const stepsOf = (column: Column): readonly string[] =>
  typeof column === 'string' ? column.split('.') : column

/** Columns of the log that the mapping reads. */
export function mappedColumns(mapping: Mapping): readonly Column[] {
  const places = Object.values(mapping.fields).flatMap(columnsOf)
  return [
    ...places,
    ...(mapping.dimensions ?? []),
    ...(mapping.tags ?? []).flatMap(([, at]) => columnsOf(at)),
    ...(mapping.tagsColumn === undefined ? [] : [mapping.tagsColumn]),
    ...(mapping.problem === undefined ? [] : [mapping.problem]),
  ]
}

/** The columns that a place reads. */
export function columnsOf(at: Mapping['fields'][FieldName]): readonly Column[] {
  if (at === undefined) return []
  if (typeof at === 'string') return [at]
  if (Array.isArray(at)) return at
  if ('from' in at) return [at.from, at.to]
  return 'column' in at ? [at.column] : []
}

/** The raw column of an unmapped place, if its numbers are exact in the file. */
export function exactColumn(at: Place | undefined, read: ColumnReader): string | null {
  if (at === undefined) return null
  const column =
    typeof at === 'string' ? at : 'column' in at && !at.values && !at.json ? at.column : null
  return column !== null && read.kind(column) === 'exact' ? read.raw(column) : null
}

export function placeSql(at: Place, read: ColumnReader): string {
  if (typeof at === 'string') return read.text(at)
  if ('value' in at) return literal(at.value)
  const column = read.text(at.column)
  const observed =
    at.json === undefined
      ? column
      : `TRY(json_extract_string(${column}, ${literal(pointerOf(at.json))}))`
  if (at.values === undefined) return observed
  const cases = Object.entries(at.values).map(
    ([theirs, ours]) => `WHEN ${literal(theirs)} THEN ${literal(ours)}`,
  )
  return cases.length === 0
    ? observed
    : `(CASE ${observed} ${cases.join(' ')} ELSE ${observed} END)`
}

/** `usage.prompt_tokens` as a JSON pointer. */
export const pointerOf = (column: Column): string =>
  stepsOf(column)
    .map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('')

/** A path or an address without its query and fragment: they hold keys, signatures and what else one request alone has. */
export const pathSql = (text: string) =>
  `CASE WHEN contains(${text}, '?') OR contains(${text}, '#') THEN regexp_extract(${text}, '^[^?#]*') ELSE ${text} END`

/** Maps the paths of the two generation endpoints to their names here; another path is its own name. */
export function endpointSql(path: string): string {
  return `CASE WHEN ends_with(${path}, '/chat/completions') THEN 'chat'
               WHEN ends_with(${path}, '/messages') THEN 'messages' ELSE nullif(${path}, '') END`
}
