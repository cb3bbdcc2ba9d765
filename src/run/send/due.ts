/** Things to do later, soonest first: a binary heap of (time, thing). */
export class DueQueue<Thing> {
  private readonly times: number[] = []
  private readonly things: Thing[] = []
  private readonly onSooner: () => void

  /** @param onSooner called when a thing is added that is due before all others */
  constructor(onSooner: () => void) {
    this.onSooner = onSooner
  }

  get size(): number {
    return this.times.length
  }

  /** When the first is due; Infinity if there is none. */
  get nextUs(): number {
    return this.times[0] ?? Infinity
  }

  add(atUs: number, thing: Thing): void {
    const { times, things } = this
    let at = times.length
    times.push(atUs)
    things.push(thing)
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (times[parent]! <= atUs) break
      times[at] = times[parent]!
      things[at] = things[parent]!
      at = parent
    }
    times[at] = atUs
    things[at] = thing
    if (at === 0) this.onSooner()
  }

  /** Removes the first; the queue must not be empty. */
  take(): Thing {
    const { times, things } = this
    const first = things[0]!
    const lastTime = times.pop()!
    const last = things.pop()!
    const size = times.length
    if (size === 0) return first
    let at = 0
    for (;;) {
      let child = at * 2 + 1
      if (child >= size) break
      if (child + 1 < size && times[child + 1]! < times[child]!) child++
      if (times[child]! >= lastTime) break
      times[at] = times[child]!
      things[at] = things[child]!
      at = child
    }
    times[at] = lastTime
    things[at] = last
    return first
  }

  drop(isOver: (thing: Thing) => boolean): void {
    const times = this.times.splice(0)
    for (const [at, thing] of this.clear().entries()) {
      if (!isOver(thing)) this.add(times[at]!, thing)
    }
  }

  /** Removes all, in no order. */
  clear(): readonly Thing[] {
    this.times.length = 0
    return this.things.splice(0)
  }
}
