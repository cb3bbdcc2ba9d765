/** Items of which the first is the smallest. */
export class Heap<Item> {
  private readonly items: Item[] = []
  private readonly compare: (a: Item, b: Item) => number

  constructor(compare: (a: Item, b: Item) => number) {
    this.compare = compare
  }

  get first(): Item | undefined {
    return this.items[0]
  }

  push(item: Item): void {
    const { items, compare } = this
    let at = items.push(item) - 1
    while (at > 0) {
      const above = (at - 1) >> 1
      if (compare(items[above]!, item) <= 0) break
      items[at] = items[above]!
      at = above
    }
    items[at] = item
  }

  /** Removes the first. */
  pop(): void {
    const last = this.items.pop()!
    if (this.items.length === 0) return
    this.items[0] = last
    this.sink()
  }

  /** Puts the first item into its place, after it has changed. */
  sink(): void {
    const { items, compare } = this
    const item = items[0]!
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      if (below >= items.length) break
      const right = items[below + 1]
      if (right !== undefined && compare(right, items[below]!) < 0) below++
      if (compare(item, items[below]!) <= 0) break
      items[at] = items[below]!
      at = below
    }
    items[at] = item
  }
}
