import { withoutMark } from '../../../user/byte-order-mark.ts'

/**
 * Rows of a CSV file with a head, as objects (RFC 4180): cells in quotes may hold separators, quotes and lines.
 *
 * @returns null if the text is no CSV: its first line has no separator, or is JSON or HTML
 */
export function csvRows(text: string): readonly Readonly<Record<string, string>>[] | null {
  const clean = withoutMark(text)
  const firstLine = clean.slice(0, clean.search(/[\r\n]|$/))
  if (/^\s*[[{<]/.test(clean)) return null
  const separator = [',', ';', '\t'].find((each) => firstLine.includes(each))
  if (separator === undefined) return null
  const [head, ...rows] = cellsOf(clean, separator)
  return rows
    .filter((cells) => cells.some((cell) => cell !== ''))
    .map((cells) => Object.fromEntries(head!.map((name, at) => [name.trim(), cells[at] ?? ''])))
}

function cellsOf(text: string, separator: string): readonly (readonly string[])[] {
  const rows: string[][] = [[]]
  let cell = ''
  let isQuoted = false
  const endCell = () => {
    rows.at(-1)!.push(cell)
    cell = ''
  }
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]!
    if (isQuoted) {
      if (letter !== '"') cell += letter
      else if (text[at + 1] === '"') cell += text[at++]
      else isQuoted = false
    } else if (letter === '"' && cell === '') isQuoted = true
    else if (letter === separator) endCell()
    else if (letter === '\n') {
      endCell()
      rows.push([])
    } else if (letter !== '\r') cell += letter
  }
  endCell()
  return rows
}
