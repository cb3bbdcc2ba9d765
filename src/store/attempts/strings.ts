import { isUtf8 } from 'node:buffer'
import duckdb from '@duckdb/node-bindings'

/** Texts of one column: pairs of start and length in the arena; a length of -1 is null. */
export interface Texts {
  readonly cells: Int32Array
  readonly arena: Buffer
}

/** Rows of a batch. */
interface Rows {
  readonly from: number
  readonly count: number
}

/** Bytes of the longest text that stands in its header. */
const longestInline = 12

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
   * Writes the headers of some rows, at most 2048. They are valid until the next call; a text that is null gets an empty
   * one.
   *
   * @param headers four numbers per row, starting with the first row written
   */
  write(texts: Texts, rows: Rows, headers: Int32Array): void {
    duckdb.data_chunk_reset(this.chunk)
    const { cells, arena } = texts
    const shared = this.sharedCopy(texts, rows)
    for (let row = 0; row < rows.count; row++) {
      const start = cells[(rows.from + row) * 2]!
      const length = cells[(rows.from + row) * 2 + 1]!
      const to = row * 4
      if (length < 0) headers.fill(0, to, to + 4)
      else if (shared !== null) writeHeader(headers, to, shared, arena, start, length)
      else {
        const mended = arena.toString('utf8', start, start + length)
        duckdb.vector_assign_string_element(this.vector, row, mended)
        headers.set(this.headerAt(row), to)
      }
    }
  }

  /** DuckDB's copy of all texts; null if one of them is not UTF-8, or if all stand in their headers. */
  private sharedCopy({ cells, arena }: Texts, { from, count }: Rows): Pointer | null {
    let used = 0
    for (let row = from; row < from + count; row++) {
      const start = cells[row * 2]!
      const length = cells[row * 2 + 1]!
      // The second half of a character: with the first half at the end of another text, the arena would be UTF-8.
      if (length > 0 && isContinuation(arena[start]!)) return null
      used = Math.max(used, start + length)
    }
    const bytes = arena.subarray(0, used)
    if (used <= longestInline || !isUtf8(bytes)) return null
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

/** UTF-8 (RFC 3629): a byte that begins no character is `10xxxxxx`. */
const isContinuation = (byte: number) => (byte & 0b1100_0000) === 0b1000_0000

/** An address of 64 bits. */
interface Pointer {
  readonly low: number
  readonly high: number
}

/** Writes the header of a string at `start` in memory that begins at `base`. */
function writeHeader(
  headers: Int32Array,
  to: number,
  base: Pointer,
  bytes: Uint8Array,
  start: number,
  length: number,
): void {
  headers[to] = length
  if (length <= longestInline) {
    headers[to + 1] = littleEndian4(bytes, start, length)
    headers[to + 2] = littleEndian4(bytes, start + 4, length - 4)
    headers[to + 3] = littleEndian4(bytes, start + 8, length - 8)
    return
  }
  const low = base.low + start
  headers[to + 1] = littleEndian4(bytes, start, 4)
  headers[to + 2] = low
  const carry = low >= 2 ** 32 ? 1 : 0
  headers[to + 3] = base.high + carry
}

/** Up to four bytes as a little-endian number; 0 if `length` is 0 or less. */
function littleEndian4(bytes: Uint8Array, at: number, length: number): number {
  let value = 0
  for (let byte = Math.min(length, 4) - 1; byte >= 0; byte--)
    value = (value << 8) | bytes[at + byte]!
  return value
}
