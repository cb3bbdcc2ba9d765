import { isUtf8 } from 'node:buffer'
import { type DuckDBAppender, DuckDBDataChunk } from '@duckdb/node-api'
import duckdb from '@duckdb/node-bindings'
import {
  Batch,
  type BatchColumns,
  type BatchMessage,
  batchRows,
  nullCount,
  nullWord,
} from '../attempt/batch.ts'
import { attemptColumns, type ColumnName, columnNames, sqlTypes } from '../attempt/columns.ts'
import { StoreError } from './open.ts'
import { Strings, writeStringAt } from './strings.ts'

/** Bytes of one mask of validity: a bit for each row, 1 where there is a value. */
const maskBytes = batchRows / 8

/**
 * Moves batches into DuckDB: one memcpy for each column, and none of DuckDB's own conversions.
 *
 *     number, count, bits   as they lie in the batch
 *     micros, index         float64 to int64, as two halves
 *     word                  code to DuckDB's 16-byte string header, made once for each word
 *     text                  header that points into a copy of the batch's arena
 *
 * `copy_data_to_vector` trusts its caller, so the types of the table are compared first.
 */
export class BatchAppender {
  private readonly appender: DuckDBAppender
  private readonly chunk: DuckDBDataChunk
  private readonly vectors: readonly duckdb.Vector[]
  private readonly words = new Map<number, Strings>()
  private readonly arena = new Strings(1)
  /** Scratch of one column: the widest cell is 16 bytes. */
  private readonly scratch = new ArrayBuffer(batchRows * 16)
  private readonly halves = new Int32Array(this.scratch)
  private readonly mask = new Uint8Array(maskBytes)

  constructor(path: string, appender: DuckDBAppender) {
    this.appender = appender
    const types = Array.from({ length: appender.columnCount }, (_, at) => appender.columnType(at))
    const expected = columnNames.map((name) => sqlTypes[attemptColumns[name].kind])
    const found = types.map(String)
    if (found.join() !== expected.join()) {
      throw new StoreError(
        `${path}: the table \`attempts\` has the columns ${found.join(', ')}; this Assay writes ${expected.join(', ')}. Use another --db.`,
      )
    }
    this.chunk = DuckDBDataChunk.create(types, batchRows)
    this.vectors = types.map((_, at) => duckdb.data_chunk_get_vector(this.chunk.chunk, at))
    for (const [at, name] of columnNames.entries()) {
      if (attemptColumns[name].nullable) duckdb.vector_ensure_validity_writable(this.vectors[at]!)
    }
  }

  /** Appends the rows of a batch; words of `sender` are codes into its own list. */
  append(sender: number, message: BatchMessage): number {
    const words = this.wordsOf(sender)
    for (const word of message.newWords) words.add(word)
    if (message.rows === 0) return 0
    const { columns, arena } = new Batch(message.buffer)
    this.arena.clear()
    for (let at = 0; at < columnNames.length; at++) {
      this.copyColumn(columns, at, message, words, arena)
    }
    this.chunk.rowCount = message.rows
    this.appender.appendDataChunk(this.chunk)
    return message.rows
  }

  flush(): void {
    this.appender.flushSync()
  }

  close(): void {
    this.appender.closeSync()
  }

  private wordsOf(sender: number): Strings {
    let words = this.words.get(sender)
    if (words === undefined) {
      words = new Strings(64)
      this.words.set(sender, words)
    }
    return words
  }

  private copyColumn(
    columns: BatchColumns,
    at: number,
    message: BatchMessage,
    words: Strings,
    arena: Buffer,
  ): void {
    const name = columnNames[at] as ColumnName
    const cells = columns[name]
    const { rows } = message
    const { kind, nullable } = attemptColumns[name]
    const vector = this.vectors[at]!
    switch (kind) {
      case 'number':
        if (nullable) this.maskNaN(cells as Float64Array, rows)
        duckdb.copy_data_to_vector(vector, 0, message.buffer, cells.byteOffset, rows * 8)
        break
      case 'count':
        if (nullable) this.maskEqual(cells as Int32Array, rows, nullCount)
        duckdb.copy_data_to_vector(vector, 0, message.buffer, cells.byteOffset, rows * 4)
        break
      case 'bits':
        duckdb.copy_data_to_vector(vector, 0, message.buffer, cells.byteOffset, rows * 4)
        break
      case 'micros':
      case 'index':
        if (nullable) this.maskNaN(cells as Float64Array, rows)
        splitInt64(cells as Float64Array, rows, this.halves)
        duckdb.copy_data_to_vector(vector, 0, this.scratch, 0, rows * 8)
        break
      case 'word':
        if (nullable) this.maskEqual(cells as Int32Array, rows, nullWord)
        words.spread(cells as Int32Array, rows, this.halves)
        duckdb.copy_data_to_vector(vector, 0, this.scratch, 0, rows * 16)
        break
      case 'text':
        this.spreadText(cells as Int32Array, rows, arena)
        duckdb.copy_data_to_vector(vector, 0, this.scratch, 0, rows * 16)
        break
    }
    if (nullable) {
      duckdb.copy_data_to_vector_validity(
        vector,
        0,
        this.mask.buffer,
        0,
        // DuckDB reads the mask in words of 64 rows.
        Math.ceil(rows / 64) * 8,
      )
    }
  }

  /** Headers of strings that lie one after the other in the arena; also their mask. */
  private spreadText(cells: Int32Array, rows: number, arena: Buffer): void {
    this.mask.fill(0)
    let used = 0
    for (let row = 0; row < rows; row++) {
      const length = cells[row * 2 + 1]!
      if (length < 0) continue
      this.mask[row >> 3]! |= 1 << (row & 7)
      used = Math.max(used, cells[row * 2]! + length)
    }
    const whole = used > 12 && isUtf8(arena.subarray(0, used))
    const base = whole ? this.arena.addBytes(arena.subarray(0, used)) : null
    for (let row = 0; row < rows; row++) {
      const [start, length] = [cells[row * 2]!, cells[row * 2 + 1]!]
      if (length < 0) this.halves.fill(0, row * 4, row * 4 + 4)
      else if (base !== null) writeStringAt(this.halves, row, base, arena, start, length)
      else {
        // Bytes that are not UTF-8, or hardly any: each string for itself, mended where needed.
        const mended = arena.toString('utf8', start, start + length)
        this.arena.copyTo(this.arena.add(mended), this.halves, row)
      }
    }
  }

  private maskNaN(cells: Float64Array, rows: number): void {
    const { mask } = this
    mask.fill(0)
    for (let row = 0; row < rows; row++) {
      const value = cells[row]!
      // biome-ignore lint/suspicious/noSelfCompare: NaN is null, and this is the cheapest test
      if (value === value) mask[row >> 3]! |= 1 << (row & 7)
    }
  }

  private maskEqual(cells: Int32Array, rows: number, sentinel: number): void {
    const { mask } = this
    mask.fill(0)
    for (let row = 0; row < rows; row++) {
      if (cells[row] !== sentinel) mask[row >> 3]! |= 1 << (row & 7)
    }
  }
}

/** Whole float64 numbers as little-endian int64: low half, high half. NaN becomes 0. */
function splitInt64(cells: Float64Array, rows: number, halves: Int32Array): void {
  for (let row = 0; row < rows; row++) {
    const value = cells[row]!
    const high = Math.floor(value / 4294967296)
    halves[row * 2] = value - high * 4294967296
    halves[row * 2 + 1] = high
  }
}
