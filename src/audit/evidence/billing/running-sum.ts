import { countBelow, countUpTo } from '../../../user/count-below.ts'

/** Sums of costs up to a moment, in O(log n) after one sort. */
export class RunningSum {
  private readonly timesUs: Float64Array
  private readonly sums: Float64Array

  /** Sums `amount` of each of `rows`; counts them without it. */
  constructor(
    rows: Int32Array,
    timeUs: (row: number) => number,
    amount: (row: number) => number = () => 1,
  ) {
    const keys = new Float64Array(rows.length)
    const order = new Int32Array(rows.length)
    let inOrder = true
    for (let at = 0; at < order.length; at++) {
      order[at] = at
      keys[at] = timeUs(rows[at]!)
      if (at > 0 && keys[at]! < keys[at - 1]!) inOrder = false
    }
    if (!inOrder) order.sort((a, b) => keys[a]! - keys[b]!)
    this.timesUs = new Float64Array(rows.length)
    this.sums = new Float64Array(rows.length + 1)
    for (let at = 0; at < order.length; at++) {
      this.timesUs[at] = keys[order[at]!]!
      this.sums[at + 1] = this.sums[at]! + amount(rows[order[at]!]!)
    }
  }

  /** Sum over times <= `atUs`. */
  upTo(atUs: number): number {
    return this.sums[countUpTo(this.timesUs, atUs)]!
  }

  /** Sum over times < `atUs`. */
  before(atUs: number): number {
    return this.sums[countBelow(this.timesUs, atUs)]!
  }
}
