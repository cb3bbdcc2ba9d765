import { withoutMark } from '../../../user/byte-order-mark.ts'
import { csvDelimiter, csvRecords, unclosedText } from '../../../user/csv.ts'
import { UserError } from '../../../user/user-error.ts'

/**
 * Rows of a CSV file with a head, as objects.
 *
 * @param file what names it in an error
 * @throws UserError if a quote is never closed
 * @returns null if the text is no CSV: its first line has no delimiter, or is JSON or HTML
 */
export function csvRows(
  text: string,
  file: string,
): readonly Readonly<Record<string, string>>[] | null {
  const clean = withoutMark(text)
  if (/^\s*[[{<]/.test(clean)) return null
  const [head, ...rows] = csvRecords([clean], csvDelimiter(clean))
  if (head === undefined || head.cells.length === 1) return null
  const { openQuoteLine } = rows.at(-1) ?? head
  if (openQuoteLine !== null)
    throw new UserError('import', `--log: ${file}: ${unclosedText(openQuoteLine)}`)
  return rows
    .filter(({ cells }) => cells.some((cell) => cell !== ''))
    .map(({ cells }) =>
      Object.fromEntries(head.cells.map((name, at) => [name.trim(), cells[at] ?? ''])),
    )
}
