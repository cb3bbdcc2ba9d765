import { firstCells } from '../../user/csv.ts'
import { userError } from '../../user/user-error.ts'
import { firstBytes } from './first-bytes.ts'

const longestBeginning = 1 << 20

/** The beginning of a plain file as text. */
export const beginningOf = (file: string, longestBytes = longestBeginning): string =>
  firstBytes(file, longestBytes).toString()

/**
 * Column names of a CSV file, from its first record.
 *
 * @param file its name for users; `read` is its plain text
 * @throws UserError when there is no header, or a name occurs twice
 */
export function headerOf(
  { file, read }: { readonly file: string; readonly read: string },
  delimiter: string,
): readonly string[] {
  const first = firstCells(beginningOf(read), delimiter)
  if (first.every((name) => name === '')) {
    throw userError.import(`${file} has no header: expected the names of columns in its first line`)
  }
  // Spreadsheets leave columns without a name behind the last one.
  const names = first.map((name, at) => (name === '' ? `(column ${at + 1})` : name))
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) throw userError.import(`${file} names the column "${twice}" twice`)
  return names
}
