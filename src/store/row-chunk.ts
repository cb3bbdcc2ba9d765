import { DuckDBDataChunk, type DuckDBType } from '@duckdb/node-api'
import duckdb from '@duckdb/node-bindings'
import { batchRows, nullCount } from '../attempt/batch.ts'
import { attemptColumns, type ColumnName } from '../attempt/columns.ts'
import type { NumberedRows } from './journal.ts'
import { rowColumns } from './layout.ts'
import { StringHeaders } from './strings.ts'

/**
 * One chunk of `attempt_rows`, filled again and again from the columns of batches.
 *
 *     asking, ending          as they were numbered
 *     number, count           as they lie in the batch
 *     micros, index           float64 to int64, as two halves
 *     text                    header that points into a copy of the batch's arena
 *
 * `copy_data_to_vector` trusts its caller: the types must be those of the table, compared before.
 */
export class RowChunk {
  private readonly chunk: DuckDBDataChunk
  private readonly vectors: readonly duckdb.Vector[]
  /** Whether the mask of a column says that every row has a value, as far as rows were filled. */
  private readonly allValid: boolean[]
  private readonly strings = new StringHeaders()
  /** Scratch of one column: the widest cell is 16 bytes. */
  private readonly scratch = new Int32Array(batchRows * 4)
  private readonly doubles = new Float64Array(this.scratch.buffer)
  /** A bit for each row, 1 where there is a value. */
  private readonly mask = new Int32Array(batchRows / 32)

  constructor(types: readonly DuckDBType[]) {
    this.chunk = DuckDBDataChunk.create(types, batchRows)
    this.vectors = types.map((_, at) => duckdb.data_chunk_get_vector(this.chunk.chunk, at))
    this.allValid = this.vectors.map(() => true)
    for (const vector of this.vectors) duckdb.vector_ensure_validity_writable(vector)
  }

  /** @returns the chunk with `rows` rows from `from` on, good until the next call */
  fill(numbered: NumberedRows, from: number, rows: number): DuckDBDataChunk {
    const numbers = [numbered.askings, numbered.endings]
    for (const [at, { buffer }] of numbers.entries()) {
      duckdb.copy_data_to_vector(this.vectors[at]!, 0, buffer as ArrayBuffer, from * 4, rows * 4)
    }
    for (const [at, name] of rowColumns.entries()) {
      this.copyColumn(name, at + numbers.length, numbered, from, rows)
    }
    this.chunk.rowCount = rows
    return this.chunk
  }

  private copyColumn(
    name: ColumnName,
    at: number,
    { batch, arenaUsed }: NumberedRows,
    from: number,
    rows: number,
  ): void {
    const cells = batch.columns[name]
    const { kind, nullable } = attemptColumns[name]
    const vector = this.vectors[at]!
    let valid = true
    switch (kind) {
      case 'number':
        if (nullable) valid = this.maskNaN(cells as Float64Array, from, rows)
        copyCells(vector, cells, from, rows)
        break
      case 'count':
        if (nullable) valid = this.maskCounts(cells as Int32Array, from, rows)
        copyCells(vector, cells, from, rows)
        break
      case 'micros':
      case 'index':
        if (nullable) valid = this.maskNaN(cells as Float64Array, from, rows)
        this.toInt64(cells as Float64Array, from, rows, kind)
        duckdb.copy_data_to_vector(vector, 0, this.scratch.buffer, 0, rows * 8)
        break
      case 'text':
        if (nullable) valid = this.maskTexts(cells as Int32Array, from, rows)
        this.strings.write(
          cells as Int32Array,
          from,
          rows,
          batch.arena.subarray(0, arenaUsed),
          this.scratch,
        )
        duckdb.copy_data_to_vector(vector, 0, this.scratch.buffer, 0, rows * 16)
        break
      default:
        throw new Error(`${name} is a ${kind}, which no row holds by itself`)
    }
    // A mask that says what it said before need not be copied again.
    if (!valid || !this.allValid[at]) {
      // DuckDB reads the mask in words of 64 rows.
      const bytes = Math.ceil(rows / 64) * 8
      duckdb.copy_data_to_vector_validity(vector, 0, this.mask.buffer, 0, bytes)
      this.allValid[at] = valid && rows === batchRows
    }
  }

  /** Whole float64 numbers as little-endian int64, into the scratch. NaN may become anything. */
  private toInt64(cells: Float64Array, from: number, rows: number, kind: 'micros' | 'index'): void {
    const { scratch, doubles } = this
    if (kind === 'micros') {
      // Next to 1.5 * 2^52 the bits of a double count in ones: exact to 2^51 on either side.
      for (let row = 0; row < rows; row++) doubles[row] = cells[from + row]! + 6755399441055744
      for (let row = 0; row < rows; row++) scratch[row * 2 + 1]! -= 0x43380000
      return
    }
    for (let row = 0; row < rows; row++) {
      const value = cells[from + row]!
      const high = Math.floor(value / 4294967296)
      scratch[row * 2] = value - high * 4294967296
      scratch[row * 2 + 1] = high
    }
  }
  /** Masks return whether every row has a value. Three loops: a call for each cell would cost more. */
  private maskNaN(cells: Float64Array, from: number, rows: number): boolean {
    let valid = true
    for (let at = 0; at < rows; at += 32) {
      let bits = 0
      for (let bit = 0; bit < 32; bit++) {
        const value = cells[from + at + bit]!
        // biome-ignore lint/suspicious/noSelfCompare: NaN is null, and this is the cheapest test
        if (value === value) bits |= 1 << bit
      }
      this.mask[at >> 5] = bits
      if (bits !== -1) valid = false
    }
    return valid
  }

  private maskCounts(cells: Int32Array, from: number, rows: number): boolean {
    let valid = true
    for (let at = 0; at < rows; at += 32) {
      let bits = 0
      for (let bit = 0; bit < 32; bit++) {
        if (cells[from + at + bit] !== nullCount) bits |= 1 << bit
      }
      this.mask[at >> 5] = bits
      if (bits !== -1) valid = false
    }
    return valid
  }

  private maskTexts(cells: Int32Array, from: number, rows: number): boolean {
    let valid = true
    for (let at = 0; at < rows; at += 32) {
      let bits = 0
      for (let bit = 0; bit < 32; bit++) {
        if (cells[(from + at + bit) * 2 + 1]! >= 0) bits |= 1 << bit
      }
      this.mask[at >> 5] = bits
      if (bits !== -1) valid = false
    }
    return valid
  }
}

function copyCells(
  vector: duckdb.Vector,
  cells: Float64Array | Int32Array | Uint32Array,
  from: number,
  rows: number,
): void {
  const { buffer, byteOffset, BYTES_PER_ELEMENT: width } = cells
  const start = byteOffset + from * width
  duckdb.copy_data_to_vector(vector, 0, buffer as ArrayBuffer, start, rows * width)
}
