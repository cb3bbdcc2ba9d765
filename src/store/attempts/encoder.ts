import { batchRows, nullCount } from '../../attempt/batch.ts'
import * as wholeMicros from '../../attempt/whole-micros.ts'

/** In a loop, a constant of its own module takes a fifth less time than an imported one. */
const { rounder } = wholeMicros
/** Of 1.5 * 2^52. A sum with the rounder has the whole number in its low 51 bits. */
const upperWordOfRounder = 0x43380000

/**
 * Converts the cells of one column into the layout of DuckDB's vector, in a scratch buffer that all columns reuse. A
 * mask has one bit per row, 1 for a value. `maskNaN`, `maskCounts` and `maskTexts` return whether every row has a value. Each kind of
 * cell has its own loop, because a call per cell would cost more.
 */
export class Encoder {
  /** The widest cell is 16 bytes. */
  readonly scratch = new Int32Array(batchRows * 4)
  readonly mask = new Int32Array(batchRows / 32)
  private readonly doubles = new Float64Array(this.scratch.buffer)
  private readonly base = new Float64Array(batchRows)

  /** Sets the base times of `since-intended`, rounded. */
  setBase(cells: Float64Array, from: number, rows: number): void {
    const { base } = this
    for (let row = 0; row < rows; row++) base[row] = cells[from + row]! + rounder - rounder
  }

  /** Doubles as 32-bit numbers: unchanged, or as rounded microseconds since the base. */
  toInt32(
    cells: Float64Array,
    from: number,
    rows: number,
    encoding: 'whole' | 'since-intended',
  ): 'valid' | 'null' | 'mixed' | 'misfit' {
    const { scratch, mask, base } = this
    const since = encoding === 'since-intended'
    let nulls = 0
    let values = 0
    for (let at = 0; at < rows; at += 32) {
      const end = Math.min(32, rows - at)
      // Bits behind the last row count as values.
      let bits = end < 32 ? -1 << end : 0
      for (let bit = 0; bit < end; bit++) {
        const cell = cells[from + at + bit]!
        const value = since ? cell + rounder - rounder - base[at + bit]! : cell
        const int = value | 0
        scratch[at + bit] = int
        if (int === value) bits |= 1 << bit
        // biome-ignore lint/suspicious/noSelfCompare: NaN is null, and this is the cheapest test
        else if (cell === cell) return 'misfit'
      }
      mask[at >> 5] = bits
      nulls |= ~bits
      values |= bits
    }
    return nulls === 0 ? 'valid' : values === 0 ? 'null' : 'mixed'
  }

  /** Float64 numbers as little-endian int64: microseconds rounded, an index whole. The result for NaN is undefined. */
  toInt64(cells: Float64Array, from: number, rows: number, kind: 'micros' | 'index'): void {
    const { scratch, doubles } = this
    if (kind === 'micros') {
      for (let row = 0; row < rows; row++) doubles[row] = cells[from + row]! + rounder
      for (let row = 0; row < rows; row++) scratch[row * 2 + 1]! -= upperWordOfRounder
      return
    }
    for (let row = 0; row < rows; row++) {
      const value = cells[from + row]!
      const high = Math.floor(value / 4294967296)
      scratch[row * 2] = value - high * 4294967296
      scratch[row * 2 + 1] = high
    }
  }

  maskNaN(cells: Float64Array, from: number, rows: number): boolean {
    let valid = true
    for (let at = 0; at < rows; at += 32) {
      let bits = 0
      for (let bit = 0; bit < 32; bit++) {
        const value = cells[from + at + bit]!
        // biome-ignore lint/suspicious/noSelfCompare: as above
        if (value === value) bits |= 1 << bit
      }
      this.mask[at >> 5] = bits
      if (bits !== -1) valid = false
    }
    return valid
  }

  maskCounts(cells: Int32Array, from: number, rows: number): boolean {
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

  maskTexts(cells: Int32Array, from: number, rows: number): boolean {
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
