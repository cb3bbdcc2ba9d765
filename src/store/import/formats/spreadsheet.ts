import type { LogDocument } from './documents.ts'
import type { Fields } from './row.ts'

/** `1.234,5`, `0,25`, and `1.234`, which has two readings. */
const withComma = /^-?(\d{1,3}(\.\d{3})+|\d+),\d+([eE][+-]?\d+)?$/
const grouped = /^-?\d{1,3}(\.\d{3})+$/
const withPoint = /^-?\d+\.\d+([eE][+-]?\d+)?$/
const dotted = /^(\d{1,2})\.(\d{1,2})\.(\d{4})(?: (\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?))?$/

/** Whether a known log was saved again by a spreadsheet whose decimal mark is a comma: then no cell has a point. */
export function hasDecimalCommas(documents: Iterable<LogDocument>): boolean {
  let commas = false
  for (const document of documents) {
    if ('unread' in document) continue
    for (const cell of Object.values(document)) {
      if (typeof cell !== 'string') continue
      if (withPoint.test(cell) && !grouped.test(cell)) return false
      commas ||= withComma.test(cell)
    }
  }
  return commas
}

/** The cells of such a spreadsheet as the service wrote them: `1234.5`, `2026-11-03 10:00:00`. */
export function plainCells(document: LogDocument): LogDocument {
  if ('unread' in document) return document
  const cells = Object.entries(document as Fields).map(([name, cell]) => [
    name,
    typeof cell === 'string' ? plainCell(cell) : cell,
  ])
  return Object.fromEntries(cells) as Fields
}

function plainCell(cell: string): string {
  if (withComma.test(cell) || grouped.test(cell)) return cell.replaceAll('.', '').replace(',', '.')
  const [, day, month, year, time] = dotted.exec(cell) ?? []
  if (day === undefined) return cell
  const date = `${year}-${month!.padStart(2, '0')}-${day.padStart(2, '0')}`
  return time === undefined ? date : `${date} ${time.padStart(5, '0').replace(/^(\d):/, '0$1:')}`
}
