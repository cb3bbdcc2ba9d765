import { isDocument, isObject, type JsonObject } from '../../../user/json.ts'
import { UserError } from '../../../user/user-error.ts'
import { parseWritten, WrittenNumber } from './answer-json.ts'
import { csvRows } from './csv.ts'

export type IsRow = (document: unknown) => boolean

/**
 * The rows of a log: a JSON list, a page with a list in it, one row or page a line, or CSV with a head.
 *
 * @throws UserError if the text is no log, ends in the middle, or has cells that are of no column
 */
export function logRows(text: string, file: string, isRow: IsRow): readonly unknown[] {
  const csv = csvRows(text, file)
  if (csv !== null) return csv
  const trimmed = text.trim()
  const whole = parseWritten(trimmed)
  // Some services write a list without rows so.
  if (whole === null) return []
  if (isDocument(whole)) return rowsIn(whole, isRow)
  const lines = trimmed.split(/\r?\n/).filter((line) => line.trim() !== '')
  return lines.flatMap((line, at) => {
    const document = parseWritten(line)
    if (isDocument(document)) return rowsIn(document, isRow)
    const isLast = at === lines.length - 1 && at > 0
    throw new UserError(
      'import',
      isLast
        ? `--log: ${file} ends in the middle of line ${at + 1}, and nothing was judged. Export it again.`
        : `--log: ${file}, line ${at + 1}: expected a JSON object, as LiteLLM's /spend/logs or new-api's /api/log write it.`,
    )
  })
}

/** Fields in which services put the rows of a page, or the one row. */
const pageFields = ['data', 'logs', 'items', 'rows', 'results', 'result', 'records']

/** How many objects deep the rows of a page may be. */
const mostDeep = 4

/** The rows of a document: its elements, itself, or what a page has in it. */
export function rowsIn(document: unknown, isRow: IsRow): readonly unknown[] {
  if (Array.isArray(document)) return document.filter(isObject)
  if (!isObject(document)) return []
  if (isRowItself(document, isRow)) return [document]
  let level: readonly JsonObject[] = [document]
  for (let deep = 0; deep < mostDeep && level.length > 0; deep++) {
    const lists = level.map((each) => listOfRows(each, isRow)).find(({ length }) => length > 0)
    const rows =
      lists ?? level.map((each) => rowsByName(each, isRow)).find(({ length }) => length > 0)
    if (rows !== undefined) return rows
    level = level.flatMap(objectsIn)
  }
  return withoutCosts(document)
}

/**
 * Whether a document is a row, and no page with a sum: `{ date, cost: 3, logs: [rows] }`. A row says what it is for, whatever lists it
 * has.
 */
function isRowItself(document: JsonObject, isRow: IsRow): boolean {
  if (!isRow(document)) return false
  const isNamed = Object.keys(document).some((name) => /^(?:(?:.*_)?id|.*model.*)$/i.test(name))
  return isNamed || listOfRows(document, isRow).length === 0
}

/** The first list of an object that has rows, or all of its lists by day or hour. */
function listOfRows(parent: JsonObject, isRow: IsRow): readonly unknown[] {
  const lists = fieldsOf(parent).filter(([, value]) => Array.isArray(value) && value.some(isRow))
  const [first] = lists
  if (first === undefined) return []
  const isByTime = ([name]: readonly [string, unknown]) => /^\d/.test(name)
  const all = isByTime(first) ? lists.filter(isByTime) : [first]
  return all.flatMap(([, list]) => (list as readonly unknown[]).filter(isObject))
}

/** Rows that an object has by name: all of it, `{ a: row, b: row }`, or one beside other fields, `{ data: row }`. */
function rowsByName(parent: JsonObject, isRow: IsRow): readonly unknown[] {
  const objects = objectsIn(parent)
  const rows = objects.filter((each) => isRowItself(each, isRow))
  return rows.length === objects.length ? rows : rows.slice(0, 1)
}

/** Fields of an object, those that usually have rows first. */
function fieldsOf(parent: JsonObject): readonly (readonly [string, unknown])[] {
  const fields = Object.entries(parent)
  const named = pageFields.flatMap((name) => fields.filter((field) => field[0] === name))
  return [...named, ...fields.filter((field) => !named.includes(field))]
}

const objectsIn = (parent: JsonObject): readonly JsonObject[] =>
  fieldsOf(parent).flatMap(([, value]) =>
    isObject(value) && !(value instanceof WrittenNumber) ? [value] : [],
  )

/** What may be the rows of a page where none has a cost: its first list, or else an object. */
function withoutCosts(document: JsonObject): readonly unknown[] {
  const inner = objectsIn(document)
  const lists = [document, ...inner].flatMap((each) =>
    fieldsOf(each).flatMap(([, value]) => (Array.isArray(value) ? [value] : [])),
  )
  if (lists.length > 0) return lists[0]!.filter(isObject)
  return Object.keys(document).length === 0 ? [] : [inner[0] ?? document]
}
