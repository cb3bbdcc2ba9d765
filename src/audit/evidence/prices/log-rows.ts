import { isMapping } from '../../../user/mapping.ts'
import { UserError } from '../../../user/user-error.ts'
import { amountOf, parseWritten } from './answer-json.ts'
import { csvRows } from './csv.ts'

/** Whether a document is a row of the log. */
export type IsRow = (document: unknown) => boolean

/**
 * The rows of a log: a JSON list, a page with a list in it, one row or page a line, or CSV with a head.
 *
 * @throws UserError if the text is no log, or ends in the middle
 */
export function logRows(text: string, file: string, isRow: IsRow): readonly unknown[] {
  const csv = csvRows(text)
  if (csv !== null) return csv
  const trimmed = text.trim()
  const whole = parseWritten(trimmed)
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

const isDocument = (value: unknown) => Array.isArray(value) || isMapping(value)

/** Fields in which services put the rows of a page, or the one row. */
const pageFields = ['data', 'logs', 'items', 'rows', 'results', 'result', 'records']

/** The rows of a document: its elements, itself, or what a page has in it, at most two fields deep. */
export function rowsIn(document: unknown, isRow: IsRow): readonly unknown[] {
  if (Array.isArray(document)) return document.filter(isMapping)
  if (!isMapping(document)) return []
  if (isRow(document)) return [document]
  const inner = innerOf(document)
  const all = [...inner, ...inner.flatMap(innerOf)]
  const lists = all.filter(Array.isArray)
  const ofRows = lists.find((list) => list.some(isRow))
  if (ofRows !== undefined) return ofRows.filter(isMapping)
  const one = all.find((each) => isMapping(each) && isRow(each))
  if (one !== undefined) return [one]
  if (lists.length > 0) return lists[0]!.filter(isMapping)
  const nested = inner.find((each) => isMapping(each))
  return Object.keys(document).length === 0 ? [] : [nested ?? document]
}

/** Values in a page: those of its usual fields first, then every list. */
function innerOf(document: unknown): readonly unknown[] {
  if (!isMapping(document)) return []
  const named = pageFields.flatMap((name) =>
    Object.hasOwn(document, name) ? [document[name]] : [],
  )
  return [...named, ...Object.values(document).filter(Array.isArray)]
}

/** Whether a page says that the log has more rows than it shows: `{ total: 240, items: […] }`. */
export function hasMoreRows(document: unknown, rows: number): boolean {
  const inner = [document, ...innerOf(document)].filter(isMapping)
  return inner.some(({ total, total_count: count, total_pages: pages, has_more: more }) => {
    return numberOf(total ?? count) > rows || numberOf(pages) > 1 || more === true
  })
}

function numberOf(value: unknown): number {
  const { text } = amountOf(value) ?? { text: '0' }
  return Number(text)
}
