import { createReadStream } from 'node:fs'

export interface CsvRecords {
  /** Whole records, with the header. */
  readonly records: number
  /** The first byte after the last whole record. */
  readonly endBytes: number
  /** The line of a quote that is never closed; null if there is none. */
  readonly openQuoteLine: number | null
  /** Cells of the header, and of the last record. */
  readonly cells: { readonly header: number; readonly last: number }
}

const [quote, lineFeed, carriageReturn, space] = [0x22, 0x0a, 0x0d, 0x20]

/** Reads a CSV file (RFC 4180) byte by byte, for where its records end. A quote opens at the start of a cell, behind spaces if there are. */
export async function csvRecords(path: string, delimiter: string): Promise<CsvRecords> {
  const comma = delimiter.charCodeAt(0)
  let [at, records, endBytes, line, openLine] = [0, 0, 0, 1, 0]
  let [cells, header, last] = [1, 0, 0]
  let state: 'start' | 'plain' | 'quoted' | 'closed' = 'start'
  for await (const chunk of createReadStream(path)) {
    for (const byte of chunk as Buffer) {
      at++
      if (byte === lineFeed) line++
      if (state === 'quoted') {
        if (byte === quote) state = 'closed'
      } else if (byte === quote && (state === 'start' || state === 'closed')) {
        if (state === 'start') openLine = line
        state = 'quoted'
      } else if (byte === lineFeed) {
        if (at - 1 > endBytes) {
          if (records++ === 0) header = cells
          last = cells
        }
        cells = 1
        endBytes = at
        state = 'start'
      } else if (byte === comma) {
        cells++
        state = 'start'
      } else if (byte !== carriageReturn && !(state === 'start' && byte === space)) state = 'plain'
    }
  }
  const openQuoteLine = state === 'quoted' ? openLine : null
  return { records, endBytes, openQuoteLine, cells: { header, last } }
}
