/** Rows ordered by a key, smallest on top. */
export class Heap {
  private readonly keys: Float64Array
  private readonly rows: Int32Array
  private count = 0

  /** @param capacity most rows at once */
  constructor(keys: Float64Array, capacity: number) {
    this.keys = keys
    this.rows = new Int32Array(capacity)
  }

  get size(): number {
    return this.count
  }

  /** The row with the smallest key; the heap must not be empty. */
  get top(): number {
    return this.rows[0]!
  }

  push(row: number): void {
    const { keys, rows } = this
    const key = keys[row]!
    let at = this.count++
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (keys[rows[parent]!]! <= key) break
      rows[at] = rows[parent]!
      at = parent
    }
    rows[at] = row
  }

  pop(): number {
    const { keys, rows } = this
    const top = rows[0]!
    const row = rows[--this.count]!
    const key = keys[row]!
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= this.count) break
      if (child + 1 < this.count && keys[rows[child + 1]!]! < keys[rows[child]!]!) child++
      if (keys[rows[child]!]! >= key) break
      rows[at] = rows[child]!
      at = child
    }
    rows[at] = row
    return top
  }
}
