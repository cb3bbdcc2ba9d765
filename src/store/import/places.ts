import { literal } from '../literal.ts'
import type { FieldName, Mapping, Place } from './mapping.ts'

/**
 * How a format reads a column: `text` as VARCHAR, `raw` as the file has it, `kind` its type if the file has types. Numbers of a
 * column that is `whole` or `decimal` are exact in the file.
 */
export interface ColumnReader {
  text(column: Column): string
  kind(column: Column): 'text' | 'timestamp' | 'timestamptz' | 'whole' | 'decimal' | 'other'
  raw(column: Column): string
  /** SQL: whether a value is a number of JSON, which has a point whatever the mark of texts. Absent for a format of cells. */
  isNumber?(column: Column): string
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

/** The raw column of a place without `values`, if its numbers are exact in the file. */
export function exactColumn(
  at: Place | undefined,
  read: ColumnReader,
): { readonly sql: string; readonly isWhole: boolean } | null {
  if (at === undefined) return null
  const column =
    typeof at === 'string' ? at : 'column' in at && !at.values && !at.json ? at.column : null
  const kind = column === null ? 'other' : read.kind(column)
  return column !== null && (kind === 'whole' || kind === 'decimal')
    ? { sql: read.raw(column), isWhole: kind === 'whole' }
    : null
}

/** How the values of a place are read: a cell, and what is at a path of a cell with JSON. */
interface PlaceReading {
  cell(column: Column): string
  json(cell: string, path: Column): string
}

/** @param as what differs from the texts as they are written; what the mapping itself says stays as it is */
export function placeSql(at: Place, read: ColumnReader, as: Partial<PlaceReading> = {}): string {
  const { cell = read.text, json = jsonSql } = as
  if (typeof at === 'string') return cell(at)
  if ('value' in at) return literal(at.value)
  const { column, json: path, values = {} } = at
  const text = read.text(column)
  const value = path === undefined ? cell(column) : json(text, path)
  const observed = path === undefined ? text : jsonSql(text, path)
  const cases = Object.entries(values).map(
    ([theirs, ours]) => `WHEN ${literal(theirs)} THEN ${literal(ours)}`,
  )
  return cases.length === 0 ? value : `(CASE ${observed} ${cases.join(' ')} ELSE ${value} END)`
}

/** SQL for the text of the value at a path of a JSON text. */
export const jsonSql = (json: string, path: Column): string =>
  `TRY(json_extract_string(${json}, ${literal(pointerOf(path))}))`

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
