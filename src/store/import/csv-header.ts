import { closeSync, openSync, readSync } from 'node:fs'
import { UserError } from '../../user/user-error.ts'
import { textOf } from './documents.ts'

const longestBeginning = 1 << 20

/** The first text of a file; compressed files are looked into. */
export function beginningOf(file: string): string {
  const bytes = Buffer.alloc(longestBeginning)
  const handle = openSync(file, 'r')
  const length = readSync(handle, bytes, 0, longestBeginning, 0)
  closeSync(handle)
  return textOf(file, bytes.subarray(0, length), false)
}

/**
 * Names of the columns of a CSV file, from its first record.
 *
 * @throws UserError when there is no header to read
 */
export function headerOf(file: string, delimiter: string): readonly string[] {
  const names = firstRecord(beginningOf(file), delimiter)
  if (names.every((name) => name === '')) {
    throw new UserError(
      'import',
      `${file} has no header: expected the names of columns in its first line`,
    )
  }
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined)
    throw new UserError('import', `${file} names the column "${twice}" twice`)
  return names
}

/** Cells of the first record; a quoted cell may hold the delimiter, quotes (doubled) and lines. */
export function firstRecord(text: string, delimiter: string): readonly string[] {
  const cells: string[] = []
  let cell = ''
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]!
    if (quoted) {
      if (sign !== '"') cell += sign
      else if (text[at + 1] === '"') cell += text[at++]
      else quoted = false
    } else if (sign === '"' && cell === '') quoted = true
    else if (sign === delimiter) {
      cells.push(cell)
      cell = ''
    } else if (sign === '\n' || sign === '\r') break
    else cell += sign
  }
  cells.push(cell)
  return cells
}
