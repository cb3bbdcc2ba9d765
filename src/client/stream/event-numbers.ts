/** Cells of a row of `EventNumbers`: one cache line. */
export const rowCells = 8
export const readUsCell = 0
export const lastContentUsCell = 1
export const itlMaxUsCell = 2
export const bytesInCell = 3
export const eventsCell = 4
export const contentEventsCell = 5
export const contentReadsCell = 6

/** Numbers that each event changes, one row for each stream of a thread: as fields of objects, they would be too many heap objects. */
export class EventNumbers {
  cells = new Float64Array(64 * rowCells)
  private used = 0

  /** @returns index of the first cell of a new row */
  take(): number {
    const row = this.used
    this.used += rowCells
    if (this.used > this.cells.length) {
      const larger = new Float64Array(this.cells.length * 2)
      larger.set(this.cells)
      this.cells = larger
    }
    return row
  }
}
