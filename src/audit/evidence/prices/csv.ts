import { withoutMark } from '../../../user/byte-order-mark.ts'
import { type CsvRecord, csvDelimiter, csvRecords, unclosedText } from '../../../user/csv.ts'
import { UserError } from '../../../user/user-error.ts'

/**
 * Rows of a CSV file with a head, as objects.
 *
 * @param file what names it in an error
 * @returns null if the text is no CSV: its first line has no delimiter, or is JSON or HTML
 * @throws UserError if a quote is never closed, a cell has no column, or two columns with one name differ
 */
export function csvRows(
  text: string,
  file: string,
): readonly Readonly<Record<string, string>>[] | null {
  const clean = withoutMark(text)
  if (/^\s*[[{<]/.test(clean)) return null
  const [head, ...records] = csvRecords([clean], csvDelimiter(clean))
  if (head === undefined || head.cells.length === 1) return null
  const { openQuoteLine } = records.at(-1) ?? head
  if (openQuoteLine !== null)
    throw new UserError('import', `--log: ${file}: ${unclosedText(openQuoteLine)}`)
  const names = head.cells.map((each) => each.trim())
  return records
    .filter(({ cells }) => cells.some((cell) => cell !== ''))
    .map((record) => rowOf(names, record, file))
}

function rowOf(
  names: readonly string[],
  { cells, line }: CsvRecord,
  file: string,
): Readonly<Record<string, string>> {
  const wrong = (is: string) => new UserError('import', `--log: ${file}, line ${line}: ${is}`)
  // An amount such as 1,234.50 without quotes would be two cells, the first of them a wrong amount.
  if (cells.slice(names.length).some((cell) => cell.trim() !== ''))
    throw wrong(
      `expected the ${names.length} cells of the head; got ${cells.length}. A cell with a delimiter must be in quotes.`,
    )
  const row = new Map<string, string>()
  for (const [at, name] of names.entries()) {
    const cell = cells[at] ?? ''
    if (name !== '' && (row.get(name) ?? cell) !== cell)
      throw wrong(
        `two columns named ${JSON.stringify(name)} have different values. Give each column a name of its own.`,
      )
    row.set(name, cell)
  }
  return Object.fromEntries(row)
}
