import type { RateEvent } from './rate-events.ts'

/** Orders by start, then by end, then by name, so that the order is the same on every machine. */
export function inOrder(a: RateEvent, b: RateEvent): number {
  return (
    a.fromUs - b.fromUs ||
    a.untilUs - b.untilUs ||
    (a.runId < b.runId ? -1 : a.runId > b.runId ? 1 : 0) ||
    a.slot - b.slot ||
    a.retry - b.retry
  )
}

/** The earlier of two requests. */
export const earlier = <Event extends RateEvent>(a: Event | undefined, b: Event): Event =>
  a === undefined || inOrder(b, a) < 0 ? b : a

/** Rows of all parts that a merge has in memory. */
const mostMerged = 200_000

/** Requests that can be read a part at a time. */
export interface InParts {
  parts(rows: number): Iterable<readonly RateEvent[]>
}

/** The requests of all groups in order of start; each group is in order, and has one. */
export function* merged(groups: readonly InParts[]): Generator<RateEvent, void, undefined> {
  const rows = Math.max(16, Math.floor(mostMerged / groups.length))
  const heap = new Heap()
  for (const group of groups) {
    const events = eventsOf(group.parts(rows))
    const event = events.next().value!
    heap.push({ fromUs: event.fromUs, event, events })
  }
  for (let cursor = heap.first; cursor !== undefined; cursor = heap.first) {
    yield cursor.event
    const next = cursor.events.next()
    if (next.done === true) heap.pop()
    else {
      cursor.event = next.value
      cursor.fromUs = next.value.fromUs
      heap.sink()
    }
  }
}

function* eventsOf(
  parts: Iterable<readonly RateEvent[]>,
): Generator<RateEvent, undefined, undefined> {
  for (const part of parts) yield* part
  return undefined
}

interface Cursor {
  event: RateEvent
  /** When the event began: most comparisons need no more. */
  fromUs: number
  readonly events: Generator<RateEvent, undefined, undefined>
}

const byEvent = (a: Cursor, b: Cursor) => a.fromUs - b.fromUs || inOrder(a.event, b.event)

/** Cursors, of which the first has the earliest event. */
class Heap {
  private readonly cursors: Cursor[] = []

  get first(): Cursor | undefined {
    return this.cursors[0]
  }

  push(cursor: Cursor): void {
    let at = this.cursors.push(cursor) - 1
    while (at > 0) {
      const above = (at - 1) >> 1
      if (byEvent(this.cursors[above]!, cursor) <= 0) break
      this.cursors[at] = this.cursors[above]!
      at = above
    }
    this.cursors[at] = cursor
  }

  pop(): void {
    const last = this.cursors.pop()!
    if (this.cursors.length === 0) return
    this.cursors[0] = last
    this.sink()
  }

  /** Puts the first cursor into its place, after its event has changed. */
  sink(): void {
    const { cursors } = this
    const cursor = cursors[0]!
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      if (below >= cursors.length) break
      const right = cursors[below + 1]
      if (right !== undefined && byEvent(right, cursors[below]!) < 0) below++
      if (byEvent(cursor, cursors[below]!) <= 0) break
      cursors[at] = cursors[below]!
      at = below
    }
    cursors[at] = cursor
  }
}
