import { cellFor, type TimeHistogram } from './time-histogram.ts'

/**
 * The times between the tokens of one stream (ITL) as cells of `TimeHistogram`, two bytes each. They are kept until its end, because
 * only streams that succeed count.
 */
export class ItlCells {
  private cells = new Uint16Array(0)
  private length = 0

  add(us: number): void {
    if (this.length === this.cells.length) {
      const larger = new Uint16Array(Math.max(64, this.length * 2))
      larger.set(this.cells)
      this.cells = larger
    }
    this.cells[this.length++] = cellFor(us)
  }

  clear(): void {
    this.length = 0
  }

  addTo(histogram: TimeHistogram): void {
    for (let at = 0; at < this.length; at++) histogram.recordCell(this.cells[at]!)
  }
}
