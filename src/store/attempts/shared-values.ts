import { type BatchColumns, batchRows } from '../../attempt/batch.ts'
import type { ColumnName } from '../../attempt/columns.ts'

/** A hostile service can make every row different. Beyond this limit the kept values are dropped and numbered anew. */
const maxKept = 65_536

/**
 * Numbers the distinct combinations of a few columns over the rows of one sender. All columns hold 32-bit cells, so no
 * string is made or compared.
 */
export class SharedValues {
  private readonly columns: readonly ColumnName[]
  private readonly nextNumber: () => number
  private readonly cells: Int32Array[]
  private varying: Int32Array[] = []
  /** The last row of this batch for each hash of the varying columns. It saves a look-up for most rows. */
  private readonly recent = new Int32Array(64)
  private hash = 0
  /** Open addressing: index + 1 of a kept combination; 0 is empty. */
  private places = new Int32Array(256)
  private kept = new Int32Array(0)
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
    this.take(columns, rows)
    this.recent.fill(-1)
    const fresh: number[] = []
    // If nothing varies, as in most batches of plain load, all rows get the first row's number.
    const differing = this.varying.length === 0 ? 1 : rows
    for (let row = 0; row < differing; row++) {
      const at = this.placeOfRecent(row)
      const like = this.recent[at]!
      this.recent[at] = row
      if (like >= 0 && this.varyAlike(row, like)) {
        into[row] = into[like]!
        continue
      }
      let place = this.find(row)
      if (place < 0) {
        place = this.keep(row)
        fresh.push(row)
      }
      into[row] = this.numbers[place]!
    }
    into.fill(into[0]!, differing, rows)
    return fresh
  }

  /** Finds the varying columns. Most columns have one value in a whole batch and need no look-up per row. */
  private take(columns: BatchColumns, rows: number): void {
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

  private placeOfRecent(row: number): number {
    const { varying } = this
    let hash = 0
    for (let at = 0; at < varying.length; at++) hash = mixed(hash, varying[at]![row]!)
    return hash & (this.recent.length - 1)
  }

  private varyAlike(row: number, other: number): boolean {
    const { varying } = this
    for (let at = 0; at < varying.length; at++) {
      if (varying[at]![row] !== varying[at]![other]) return false
    }
    return true
  }

  private find(row: number): number {
    const { places, cells } = this
    let hash = 0
    for (let at = 0; at < cells.length; at++) hash = mixed(hash, cells[at]![row]!)
    this.hash = hash
    const mask = places.length - 1
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const place = places[at]! - 1
      if (place < 0 || this.equals(place, row)) return place
    }
  }

  private equals(place: number, row: number): boolean {
    const { cells, kept } = this
    const from = place * cells.length
    for (let at = 0; at < cells.length; at++) {
      if (kept[from + at] !== cells[at]![row]) return false
    }
    return true
  }

  private keep(row: number): number {
    if (this.count === maxKept) this.forget()
    if (this.count === this.numbers.length) this.grow()
    const { cells } = this
    const place = this.count++
    for (let at = 0; at < cells.length; at++) {
      this.kept[place * cells.length + at] = cells[at]![row]!
    }
    this.numbers[place] = this.nextNumber()
    this.enter(place, this.hash)
    return place
  }

  private enter(place: number, hash: number): void {
    const mask = this.places.length - 1
    let at = hash & mask
    while (this.places[at] !== 0) at = (at + 1) & mask
    this.places[at] = place + 1
  }

  private forget(): void {
    this.count = 0
    this.places.fill(0)
  }

  private grow(): void {
    const [{ length }, width] = [this.numbers, this.cells.length]
    this.numbers = widened(this.numbers, length * 2)
    this.kept = widened(this.kept, length * 2 * width)
    this.places = new Int32Array(length * 4)
    for (let place = 0; place < this.count; place++) {
      let hash = 0
      for (let at = 0; at < width; at++) hash = mixed(hash, this.kept[place * width + at]!)
      this.enter(place, hash)
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
