import { Heap } from '../../user/heap.ts'

interface Due<Thing> {
  readonly atUs: number
  readonly thing: Thing
}

/** Things to do later, soonest first. */
export class DueQueue<Thing> {
  private readonly heap = new Heap<Due<Thing>>((a, b) => a.atUs - b.atUs)
  private readonly onSooner: () => void

  /** @param onSooner called when a thing is added that is due before all others */
  constructor(onSooner: () => void) {
    this.onSooner = onSooner
  }

  get size(): number {
    return this.heap.size
  }

  /** When the first is due; Infinity if there is none. */
  get nextUs(): number {
    return this.heap.first?.atUs ?? Infinity
  }

  add(atUs: number, thing: Thing): void {
    const due = { atUs, thing }
    this.heap.push(due)
    if (this.heap.first === due) this.onSooner()
  }

  /** Removes the first; the queue must not be empty. */
  take(): Thing {
    const { thing } = this.heap.first!
    this.heap.pop()
    return thing
  }

  drop(isOver: (thing: Thing) => boolean): void {
    for (const { atUs, thing } of this.heap.clear()) if (!isOver(thing)) this.add(atUs, thing)
  }

  /** Removes all, in no order. */
  clear(): readonly Thing[] {
    return this.heap.clear().map(({ thing }) => thing)
  }
}
