import { type BatchColumns, batchRows } from '../../attempt/batch.ts'
import type { ColumnName } from '../../attempt/columns.ts'

/** A hostile service can make every row different. Beyond this limit the kept values are dropped and numbered anew. */
const maxKept = 65_536

/**
 * Numbers the distinct combinations of a few columns over the rows of one sender. All columns hold 32-bit cells, so no
 * string is made or compared.
 *
 *     row      step  key  model            kept          number
 *      0        1     4     2     new ──▶  1 4 2           17
 *      1        1     5     2     new ──▶  1 5 2           18
 *      2        1     4     2     known ────────────────▶  17
 *
 * A hash of the cells leads to a slot, and the slot to a kept combination (`slots`). Most rows equal a recent one in the columns that
 * vary within the batch, and need no look at the others (`recent`).
 */
export class SharedValues {
  private readonly columns: readonly ColumnName[]
  private readonly nextNumber: () => number
  /** The cells of each column in this batch. */
  private readonly cells: Int32Array[]
  /** Those of the columns that vary within it. */
  private varying: Int32Array[] = []
  /** The last row of this batch for each hash of the varying columns. It saves a look-up for most rows. */
  private readonly recent = new Int32Array(64)
  /** Of the row that was last looked up. */
  private hash = 0
  /** Open addressing: index + 1 of a kept combination; 0 is empty. */
  private slots = new Int32Array(256)
  /** The cells of each kept combination, one after the other. */
  private kept = new Int32Array(0)
  /** The number of each. */
  private numbers = new Int32Array(128)
  private count = 0

  /** @param nextNumber returns an unused number */
  constructor(columns: readonly ColumnName[], nextNumber: () => number) {
    this.columns = columns
    this.nextNumber = nextNumber
    this.cells = columns.map(() => new Int32Array(0))
    this.kept = new Int32Array(this.numbers.length * columns.length)
  }

  /**
   * Writes the number of each row into `into`.
   *
   * @returns rows with a new combination, each with a new number
   */
  number(columns: BatchColumns, rows: number, into: Int32Array): readonly number[] {
    this.findVarying(columns, rows)
    this.recent.fill(-1)
    const fresh: number[] = []
    // If nothing varies, as in most batches of plain load, all rows get the first row's number.
    const differing = this.varying.length === 0 ? 1 : rows
    for (let row = 0; row < differing; row++) {
      const at = this.recentSlotOf(row)
      const like = this.recent[at]!
      this.recent[at] = row
      if (like >= 0 && this.isLike(row, like)) {
        into[row] = into[like]!
        continue
      }
      let index = this.indexOf(row)
      if (index < 0) {
        index = this.add(row)
        fresh.push(row)
      }
      into[row] = this.numbers[index]!
    }
    into.fill(into[0]!, differing, rows)
    return fresh
  }

  /** Finds the varying columns. Most columns have one value in a whole batch and need no look-up per row. */
  private findVarying(columns: BatchColumns, rows: number): void {
    this.varying = []
    for (const [at, name] of this.columns.entries()) {
      const { buffer, byteOffset } = columns[name]
      const column = new Int32Array(buffer as ArrayBuffer, byteOffset, batchRows)
      this.cells[at] = column
      const first = column[0]
      let row = 1
      while (row < rows && column[row] === first) row++
      if (row < rows) this.varying.push(column)
    }
  }

  private recentSlotOf(row: number): number {
    const { varying } = this
    let hash = 0
    for (let at = 0; at < varying.length; at++) hash = mixed(hash, varying[at]![row]!)
    return hash & (this.recent.length - 1)
  }

  private isLike(row: number, other: number): boolean {
    const { varying } = this
    for (let at = 0; at < varying.length; at++) {
      if (varying[at]![row] !== varying[at]![other]) return false
    }
    return true
  }

  private indexOf(row: number): number {
    const { slots, cells } = this
    let hash = 0
    for (let at = 0; at < cells.length; at++) hash = mixed(hash, cells[at]![row]!)
    this.hash = hash
    const mask = slots.length - 1
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const index = slots[at]! - 1
      if (index < 0 || this.isKept(index, row)) return index
    }
  }

  private isKept(index: number, row: number): boolean {
    const { cells, kept } = this
    const from = index * cells.length
    for (let at = 0; at < cells.length; at++) {
      if (kept[from + at] !== cells[at]![row]) return false
    }
    return true
  }

  private add(row: number): number {
    if (this.count === maxKept) this.forget()
    if (this.count === this.numbers.length) this.grow()
    const { cells } = this
    const index = this.count++
    for (let at = 0; at < cells.length; at++) {
      this.kept[index * cells.length + at] = cells[at]![row]!
    }
    this.numbers[index] = this.nextNumber()
    this.enterSlot(index, this.hash)
    return index
  }

  private enterSlot(index: number, hash: number): void {
    const mask = this.slots.length - 1
    let at = hash & mask
    while (this.slots[at] !== 0) at = (at + 1) & mask
    this.slots[at] = index + 1
  }

  private forget(): void {
    this.count = 0
    this.slots.fill(0)
  }

  private grow(): void {
    const [{ length }, width] = [this.numbers, this.cells.length]
    this.numbers = widened(this.numbers, length * 2)
    this.kept = widened(this.kept, length * 2 * width)
    this.slots = new Int32Array(length * 4)
    for (let index = 0; index < this.count; index++) {
      let hash = 0
      for (let at = 0; at < width; at++) hash = mixed(hash, this.kept[index * width + at]!)
      this.enterSlot(index, hash)
    }
  }
}

function mixed(hash: number, cell: number): number {
  const product = Math.imul(hash ^ cell, 0x9e3779b1)
  return product ^ (product >>> 15)
}

function widened(from: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const wider = new Int32Array(length)
  wider.set(from)
  return wider
}
