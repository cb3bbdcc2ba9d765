import { DuckDBDataChunk, type DuckDBType } from '@duckdb/node-api'
import duckdb from '@duckdb/node-bindings'
import { batchRows } from '../../attempt/batch.ts'
import { attemptColumns, type ColumnName } from '../../attempt/columns.ts'
import { Encoder } from './encoder.ts'
import type { NumberedRows } from './journal.ts'
import { type Form, rowColumns } from './layout.ts'
import { StringHeaders } from './strings.ts'

/** A column of the chunk that rows are copied to. */
interface Target {
  readonly name: ColumnName
  readonly vector: duckdb.Vector
  /** The current mask over a full chunk: all rows have a value, none has, or some have. */
  mask: 'valid' | 'null' | 'mixed'
}

/**
 * One chunk of a table of rows, refilled from the columns of batches with one memcpy per column. The source is the
 * batch itself or the output of an `Encoder`.
 *
 * `copy_data_to_vector` trusts its caller: the types must match the table, and are compared before.
 */
export class RowChunk {
  private readonly form: Form
  private readonly chunk: DuckDBDataChunk
  private readonly kindAndEnding: readonly duckdb.Vector[]
  private readonly targets: readonly Target[]
  private readonly strings = new StringHeaders()
  private readonly encoder = new Encoder()

  /** @param types of the columns of the form's table */
  constructor(form: Form, types: readonly DuckDBType[]) {
    this.form = form
    this.chunk = DuckDBDataChunk.create(types, batchRows)
    const vectorAt = (at: number) => duckdb.data_chunk_get_vector(this.chunk.chunk, at)
    const isText = (name: ColumnName) => attemptColumns[name].kind === 'text'
    const texts = form.struct ? rowColumns.filter(isText) : []
    const others = rowColumns.filter((name) => !texts.includes(name))
    // A table has a column for each value, or the texts and one struct; the struct, or the table, begins with kind and ending.
    const cell = form.struct
      ? (at: number) => duckdb.struct_vector_get_child(vectorAt(texts.length), at)
      : vectorAt
    this.kindAndEnding = [cell(0), cell(1)]
    this.targets = [
      ...texts.map((name, at) => ({ name, vector: vectorAt(at), mask: 'valid' as const })),
      ...others.map((name, at) => ({ name, vector: cell(at + 2), mask: 'valid' as const })),
    ]
    for (const { vector } of this.targets) duckdb.vector_ensure_validity_writable(vector)
  }

  /**
   * @returns the chunk with `rows` rows from index `from` on, valid until the next call; null if they do not fit the
   * form
   */
  fill(numbered: NumberedRows, from: number, rows: number): DuckDBDataChunk | null {
    const { batch } = numbered
    this.encoder.setBase(batch.columns.intendedUs as Float64Array, from, rows)
    for (const target of this.targets) if (!this.copy(target, numbered, from, rows)) return null
    for (const [at, { buffer }] of [numbered.request_kinds, numbered.endings].entries()) {
      duckdb.copy_data_to_vector(
        this.kindAndEnding[at]!,
        0,
        buffer as ArrayBuffer,
        from * 4,
        rows * 4,
      )
    }
    this.chunk.rowCount = rows
    return this.chunk
  }

  /** @returns whether the rows fit */
  private copy(target: Target, numbered: NumberedRows, from: number, rows: number): boolean {
    const { name, vector } = target
    const { batch, arenaUsed } = numbered
    const { encoder } = this
    const cells = batch.columns[name]
    const { kind, nullable } = attemptColumns[name]
    const encoding = this.form.encodingOf(name)
    let valid = true
    let allNull = false
    let bytes = 8
    let source = encoder.scratch.buffer as ArrayBuffer
    let start = 0
    if (encoding === 'whole' || encoding === 'since-intended') {
      const found = encoder.toInt32(cells as Float64Array, from, rows, encoding)
      if (found === 'misfit') return false
      // Columns that only streams fill stay null in a plain load.
      if (found === 'null' && target.mask === 'null') return true
      allNull = found === 'null' && rows === batchRows
      valid = found === 'valid'
      bytes = 4
    } else {
      switch (kind) {
        case 'number':
          if (nullable) valid = encoder.maskNaN(cells as Float64Array, from, rows)
          source = cells.buffer as ArrayBuffer
          start = cells.byteOffset + from * 8
          break
        case 'micros':
        case 'index':
          if (nullable) valid = encoder.maskNaN(cells as Float64Array, from, rows)
          encoder.toInt64(cells as Float64Array, from, rows, kind)
          break
        case 'count':
          if (nullable) valid = encoder.maskCounts(cells as Int32Array, from, rows)
          source = cells.buffer as ArrayBuffer
          start = cells.byteOffset + from * 4
          bytes = 4
          break
        case 'text': {
          if (nullable) valid = encoder.maskTexts(cells as Int32Array, from, rows)
          const arena = batch.arena.subarray(0, arenaUsed)
          const texts = { cells: cells as Int32Array, arena }
          this.strings.write(texts, { from, count: rows }, encoder.scratch)
          bytes = 16
          break
        }
        default:
          throw new Error(`${name} is a ${kind}, which no row holds by itself`)
      }
    }
    duckdb.copy_data_to_vector(vector, 0, source, start, rows * bytes)
    // An unchanged mask need not be copied again.
    if (!valid || target.mask !== 'valid') {
      // DuckDB reads the mask in words of 64 rows.
      const maskBytes = Math.ceil(rows / 64) * 8
      duckdb.copy_data_to_vector_validity(vector, 0, encoder.mask.buffer, 0, maskBytes)
      target.mask = allNull ? 'null' : valid && rows === batchRows ? 'valid' : 'mixed'
    }
    return true
  }
}
