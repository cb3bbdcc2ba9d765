import { withoutMark } from '../../../user/byte-order-mark.ts'
import { csvDelimiter, csvRecords } from '../../../user/csv.ts'

/**
 * Rows of a CSV file with a head, as objects.
 *
 * @returns null if the text is no CSV: its first line has no delimiter, or is JSON or HTML
 */
export function csvRows(text: string): readonly Readonly<Record<string, string>>[] | null {
  const clean = withoutMark(text)
  if (/^\s*[[{<]/.test(clean)) return null
  const [head, ...rows] = csvRecords([clean], csvDelimiter(clean))
  if (head === undefined || head.cells.length === 1) return null
  return rows
    .filter(({ cells }) => cells.some((cell) => cell !== ''))
    .map(({ cells }) =>
      Object.fromEntries(head.cells.map((name, at) => [name.trim(), cells[at] ?? ''])),
    )
}
