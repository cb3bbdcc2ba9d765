import duckdb from '@duckdb/node-bindings'

/**
 * Strings that live in memory of DuckDB, each known by its 16-byte header:
 *
 *     0        4             8                16
 *     ┌────────┬─────────────┬─────────────────┐
 *     │ length │ up to 12 bytes of text, inline│      length <= 12
 *     ├────────┼─────────────┼─────────────────┤
 *     │ length │ first four  │ pointer to all  │      longer
 *     └────────┴─────────────┴─────────────────┘
 *
 * A header made once can be copied into any vector while this list lives: an append copies what
 * it points to. So a word costs four integer stores for each row and no call.
 */
export class Strings {
  private readonly type = duckdb.create_logical_type(duckdb.Type.VARCHAR)
  private chunks: { readonly chunk: duckdb.DataChunk; readonly vector: duckdb.Vector }[] = []
  private headers: Int32Array
  private count = 0
  private inLast = 0

  constructor(expected: number) {
    this.headers = new Int32Array(expected * 4)
    this.grow()
  }

  /** @returns the code of the string: its place in the list */
  add(text: string): number {
    return this.keep((vector, at) => duckdb.vector_assign_string_element(vector, at, text))
  }

  /** Keeps bytes that are UTF-8. @returns where DuckDB holds them */
  addBytes(bytes: Uint8Array): Pointer {
    const at = this.keep((vector, at) => duckdb.vector_assign_string_element_len(vector, at, bytes))
    return { low: this.headers[at * 4 + 2]! >>> 0, high: this.headers[at * 4 + 3]! }
  }

  /** Forgets all strings and frees what they held. */
  clear(): void {
    for (const { chunk } of this.chunks) duckdb.data_chunk_reset(chunk)
    this.chunks = this.chunks.slice(0, 1)
    this.count = 0
    this.inLast = 0
  }

  /** Writes the header of each row's code; negative codes become empty headers. */
  spread(codes: Int32Array, rows: number, into: Int32Array): void {
    const { headers } = this
    for (let row = 0; row < rows; row++) {
      const from = codes[row]! * 4
      const to = row * 4
      if (from < 0) {
        into[to] = 0
        into[to + 1] = 0
        into[to + 2] = 0
        into[to + 3] = 0
      } else {
        into[to] = headers[from]!
        into[to + 1] = headers[from + 1]!
        into[to + 2] = headers[from + 2]!
        into[to + 3] = headers[from + 3]!
      }
    }
  }

  copyTo(code: number, into: Int32Array, row: number): void {
    into.set(this.headers.subarray(code * 4, code * 4 + 4), row * 4)
  }

  private keep(assign: (vector: duckdb.Vector, at: number) => void): number {
    if (this.inLast === chunkRows) this.grow()
    const { vector } = this.chunks.at(-1)!
    assign(vector, this.inLast)
    this.inLast++
    // The header is read back from the vector: it holds the pointer.
    const bytes = duckdb.vector_get_data(vector, this.inLast * 16)
    const header = new Int32Array(4)
    new Uint8Array(header.buffer).set(bytes.subarray(this.inLast * 16 - 16))
    if ((this.count + 1) * 4 > this.headers.length) {
      const wider = new Int32Array(this.headers.length * 2)
      wider.set(this.headers)
      this.headers = wider
    }
    this.headers.set(header, this.count * 4)
    return this.count++
  }

  private grow(): void {
    const chunk = duckdb.create_data_chunk([this.type])
    this.chunks.push({ chunk, vector: duckdb.data_chunk_get_vector(chunk, 0) })
    this.inLast = 0
  }
}

const chunkRows = 2048

export interface Pointer {
  readonly low: number
  readonly high: number
}

/** Writes the header of a string that lies at `start` in memory that begins at `base`. */
export function writeStringAt(
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
