import { type FocusColumn, type FocusRow, focusColumns } from './columns.ts'

/** A FOCUS file as CSV: UTF-8, a line feed after each row, quotes where they are needed. */
export function focusCsv(
  rows: readonly FocusRow[],
  columns: ReadonlyMap<string, FocusColumn>,
): string {
  const lines = [
    [...columns.keys()],
    ...rows.map((row) => [...columns.values()].map((name) => shown(row[name], name))),
  ]
  return lines.map((cells) => `${cells.map(cell).join(',')}\n`).join('')
}

const cell = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** Text of a log is no formula of a spreadsheet. */
const shown = (text: string, column: FocusColumn) =>
  focusColumns[column] === 'text' && /^\s*[=+@\t\r-]/.test(text) ? `'${text}` : text
