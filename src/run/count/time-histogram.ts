import type { Statistic } from '../../scenario/threshold.ts'

/**
 * Counts of whole microseconds in the layout of an HDR histogram with three significant digits, in typed
 * arrays. Recording takes a few nanoseconds without a library, counts of threads merge by addition, and
 * `histogram-bytes.ts` writes HdrHistogram's format.
 *
 *     value        bucket                         width of a cell
 *     0 … 2047     0: 2,048 cells                 1 us
 *     2048 … 4095  1: the upper 1,024 cells       2 us
 *     4096 … 8191  2: the upper 1,024 cells       4 us      (and so on: never over 0.1 %)
 */
const halfCells = 1024

/** Two hours, longer than any deadline. Longer times count as this. */
export const highestUs = 7200e6
export const cellCount = cellOf(highestUs) + 1
/** A page has `halfCells` cells. */
const pageBits = 10
const inPage = halfCells - 1
const pageCount = Math.ceil(cellCount / halfCells)

/** Cell of a value in whole microseconds. */
export function cellOf(us: number): number {
  if (us < 2 * halfCells) return us
  // Shifts work on 32 bits: a value four times smaller is two buckets lower.
  if (us > 0x7fffffff) return cellOf(Math.floor(us / 4)) + 2 * halfCells
  const shift = 21 - Math.clz32(us)
  return (shift + 1) * halfCells + ((us >>> shift) - halfCells)
}

/** Cell of any time in microseconds: fractions are cut off, negative times count as 0. */
export const cellFor = (us: number): number =>
  cellOf(us > 0 ? (us < highestUs ? Math.floor(us) : highestUs) : 0)

export function lowestOf(cell: number): number {
  if (cell < 2 * halfCells) return cell
  const shift = Math.floor(cell / halfCells) - 1
  return (halfCells + (cell % halfCells)) * 2 ** shift
}

/** Width of a cell in microseconds. */
export const widthOf = (cell: number): number =>
  cell < 2 * halfCells ? 1 : 2 ** (Math.floor(cell / halfCells) - 1)

/** The counts of consecutive cells. */
export interface HistogramSlice {
  readonly from: number
  readonly cells: Uint32Array
  readonly samples: number
}

/**
 * A histogram whose cells are in pages, each created with its first value. The times of a step fill few of
 * the 24 pages, and a run of hundreds of steps has thousands of histograms.
 */
export class TimeHistogram {
  private readonly pages: (Uint32Array | null)[] = Array.from({ length: pageCount }, () => null)
  private lowest = cellCount
  private highest = -1
  samples = 0

  record(us: number): void {
    this.recordCell(cellFor(us))
  }

  recordCell(cell: number): void {
    this.pageOf(cell)[cell & inPage]!++
    this.samples++
    if (cell < this.lowest) this.lowest = cell
    if (cell > this.highest) this.highest = cell
  }

  add(slice: HistogramSlice): void {
    const { from, cells } = slice
    for (let at = 0; at < cells.length; at++) {
      const count = cells[at]!
      if (count > 0) this.pageOf(from + at)[(from + at) & inPage]! += count
    }
    this.samples += slice.samples
    if (cells.length === 0) return
    if (from < this.lowest) this.lowest = from
    if (from + cells.length - 1 > this.highest) this.highest = from + cells.length - 1
  }

  /** The samples that an earlier state of this histogram did not have yet. */
  since(earlier: TimeHistogram): TimeHistogram {
    const fresh = new TimeHistogram()
    const { from, cells, samples } = this.slice()
    for (let at = 0; at < cells.length; at++) cells[at]! -= earlier.countAt(from + at)
    fresh.add({ from, cells, samples: samples - earlier.samples })
    return fresh
  }

  /** A copy of the counts. */
  slice(): HistogramSlice {
    if (this.samples === 0) return { from: 0, cells: new Uint32Array(0), samples: 0 }
    const cells = new Uint32Array(this.highest + 1 - this.lowest)
    for (let at = 0; at < cells.length; at++) cells[at] = this.countAt(this.lowest + at)
    return { from: this.lowest, cells, samples: this.samples }
  }

  /** Returns the counts and resets them; null without samples. */
  take(): HistogramSlice | null {
    if (this.samples === 0) return null
    const slice = this.slice()
    for (const page of this.pages) page?.fill(0)
    this.lowest = cellCount
    this.highest = -1
    this.samples = 0
    return slice
  }

  /** The value that `p` percent of samples do not exceed, within 0.1 %; null without samples. */
  percentile(p: number): number | null {
    return this.atRank(Math.max(1, Math.ceil((p / 100) * this.samples)))
  }

  /** The sample of this rank (from 1) in ascending order; null if there is none. */
  atRank(rank: number): number | null {
    if (rank < 1) return null
    let seen = 0
    for (let cell = this.lowest; cell <= this.highest; cell++) {
      seen += this.countAt(cell)
      if (seen >= rank) return lowestOf(cell) + (widthOf(cell) - 1) / 2
    }
    return null
  }

  /** A figure of all samples; null without any. */
  statistic(statistic: Statistic): number | null {
    if (this.samples === 0) return null
    switch (statistic.kind) {
      case 'percentile':
        return this.percentile(statistic.p)
      case 'min':
        return lowestOf(this.lowest)
      case 'max':
        return lowestOf(this.highest) + widthOf(this.highest) - 1
      case 'mean': {
        let sum = 0
        for (const [us, count] of this.filled()) sum += (us + (widthOf(cellOf(us)) - 1) / 2) * count
        return sum / this.samples
      }
      default:
        return this.samples
    }
  }

  /** The lowest value and the count of each non-empty cell. */
  *filled(): Generator<readonly [us: number, count: number]> {
    for (let cell = this.lowest; cell <= this.highest; cell++) {
      const count = this.countAt(cell)
      if (count > 0) yield [lowestOf(cell), count]
    }
  }

  private countAt(cell: number): number {
    const page = this.pages[cell >>> pageBits]!
    return page === null ? 0 : page[cell & inPage]!
  }

  private pageOf(cell: number): Uint32Array {
    const at = cell >>> pageBits
    const page = this.pages[at]!
    if (page !== null) return page
    this.pages[at] = new Uint32Array(halfCells)
    return this.pages[at]
  }
}
