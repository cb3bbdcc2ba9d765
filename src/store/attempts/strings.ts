import { isUtf8 } from 'node:buffer'
import duckdb from '@duckdb/node-bindings'

/**
 * Writes DuckDB's 16-byte headers of the strings of one column without a call per string:
 *
 *     0        4             8                16
 *     ┌────────┬─────────────┬─────────────────┐
 *     │ length │ up to 12 bytes of text, inline│      length <= 12
 *     ├────────┼─────────────┼─────────────────┤
 *     │ length │ first four  │ pointer to all  │      longer
 *     └────────┴─────────────┴─────────────────┘
 *
 * The strings of a batch are contiguous in its arena. DuckDB gets one copy of them as one string, and the headers
 * point into it. An append copies the bytes that they point to.
 */
export class StringHeaders {
  private readonly chunk = duckdb.create_data_chunk([
    duckdb.create_logical_type(duckdb.Type.VARCHAR),
  ])
  private readonly vector = duckdb.data_chunk_get_vector(this.chunk, 0)

  /**
   * @param cells pairs of start and length in the arena; a length of -1 is null and gets an empty header
   * @param into four numbers per row, starting with the first row written
   */
  write(cells: Int32Array, from: number, rows: number, arena: Buffer, into: Int32Array): void {
    duckdb.data_chunk_reset(this.chunk)
    let used = 0
    for (let row = from; row < from + rows; row++) {
      used = Math.max(used, cells[row * 2]! + cells[row * 2 + 1]!)
    }
    const bytes = arena.subarray(0, used)
    const whole = used > 12 && isUtf8(bytes)
    const base = whole ? this.pointerTo(bytes) : null
    for (let row = 0; row < rows; row++) {
      const start = cells[(from + row) * 2]!
      const length = cells[(from + row) * 2 + 1]!
      if (length < 0) into.fill(0, row * 4, row * 4 + 4)
      else if (base !== null) writeHeader(into, row, base, arena, start, length)
      else {
        // The bytes are not UTF-8, or too few: each string is converted alone, and repaired if necessary.
        const mended = arena.toString('utf8', start, start + length)
        duckdb.vector_assign_string_element(this.vector, row, mended)
        into.set(this.headerAt(row), row * 4)
      }
    }
  }

  private pointerTo(bytes: Uint8Array): Pointer {
    duckdb.vector_assign_string_element_len(this.vector, 0, bytes)
    const header = this.headerAt(0)
    return { low: header[2]! >>> 0, high: header[3]! }
  }

  /** Reads a header back from the vector, because it holds the pointer. */
  private headerAt(row: number): Int32Array {
    const bytes = duckdb.vector_get_data(this.vector, (row + 1) * 16)
    const header = new Int32Array(4)
    new Uint8Array(header.buffer).set(bytes.subarray(row * 16))
    return header
  }
}

interface Pointer {
  readonly low: number
  readonly high: number
}

/** Writes the header of a string at `start` in memory that begins at `base`. */
function writeHeader(
  headers: Int32Array,
  row: number,
  base: Pointer,
  bytes: Uint8Array,
  start: number,
  length: number,
): void {
  const to = row * 4
  headers[to] = length
  if (length <= 12) {
    headers[to + 1] = four(bytes, start, length)
    headers[to + 2] = four(bytes, start + 4, length - 4)
    headers[to + 3] = four(bytes, start + 8, length - 8)
    return
  }
  const low = base.low + start
  headers[to + 1] = four(bytes, start, 4)
  headers[to + 2] = low
  headers[to + 3] = base.high + (low >= 4294967296 ? 1 : 0)
}

/** Up to four bytes as a little-endian number. */
function four(bytes: Uint8Array, at: number, length: number): number {
  let value = 0
  for (let byte = Math.min(length, 4) - 1; byte >= 0; byte--)
    value = (value << 8) | bytes[at + byte]!
  return value
}
