/** A record of a CSV file. */
export interface CsvRecord {
  readonly cells: readonly string[]
  /** As it is written, without the end of its line. */
  readonly text: string
  /** The line at which it begins, from 1. */
  readonly line: number
  /** The line with a quote in it that nothing closes, so that all text behind it is of this record; null without one. */
  readonly openQuoteLine: number | null
}

/** What is wrong with a file that has such a record. */
export const unclosedText = (line: number): string =>
  `the quote in line ${line} is never closed, so the lines after it cannot be read.`

/**
 * Records of a CSV text (RFC 4180), without its empty lines. A cell in quotes may hold delimiters, line breaks and doubled quotes.
 * Spaces around the quotes do not belong to it; text behind them does.
 *
 * @param chunks the text in parts of any size
 */
export function* csvRecords(chunks: Iterable<string>, delimiter: string): Generator<CsvRecord> {
  let state: 'start' | 'plain' | 'quoted' | 'closed' = 'start'
  let cells: string[] = []
  let [cell, text, before] = ['', '', '']
  let [line, firstLine, quoteLine] = [1, 1, 1]
  /** Length of the cell when its quote closed: spaces behind it are cut. */
  let closedAt = 0
  const endCell = () => {
    cells.push(state === 'closed' ? cell.slice(0, closedAt) + cell.slice(closedAt).trimEnd() : cell)
    cell = ''
    state = 'start'
  }
  const endRecord = (): CsvRecord => {
    const openQuoteLine = state === 'quoted' ? quoteLine : null
    endCell()
    const record = { cells, text, line: firstLine, openQuoteLine }
    ;[cells, text] = [[], '']
    return record
  }
  for (const chunk of chunks) {
    for (const sign of chunk) {
      const isSecondOfEnd = sign === '\n' && before === '\r'
      const isEnd = sign === '\n' || sign === '\r'
      before = sign
      if (isEnd && !isSecondOfEnd) line++
      if (isEnd && state !== 'quoted') {
        if (text !== '') yield endRecord()
        firstLine = line
        continue
      }
      text += sign
      if (state === 'quoted') {
        if (sign === '"') [state, closedAt] = ['closed', cell.length]
        else cell += sign
      } else if (sign === delimiter) endCell()
      else if (sign === '"' && state === 'start') [cell, state, quoteLine] = ['', 'quoted', line]
      else {
        cell += sign
        // Right behind the closing quote, a second one: both were one quote of the text.
        if (state === 'closed' && sign === '"' && cell.length === closedAt + 1) state = 'quoted'
        else if (state === 'start' && sign !== ' ') state = 'plain'
      }
    }
  }
  if (text !== '') yield endRecord()
}

/** Cells of the first record; one empty cell for an empty text. */
export const firstCells = (text: string, delimiter: string): readonly string[] =>
  csvRecords([text], delimiter).next().value?.cells ?? ['']

/** The delimiter that cuts the first record most often. */
export function csvDelimiter(text: string): string {
  const cells = (delimiter: string) => firstCells(text, delimiter).length
  return [',', ';', '\t'].reduce((best, each) => (cells(each) > cells(best) ? each : best))
}
