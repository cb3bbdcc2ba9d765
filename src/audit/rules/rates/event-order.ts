import { Heap } from '../../evidence/heap.ts'
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
  const heap = new Heap(byEvent)
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
