import { balanceBrackets } from '../../../limits/balance.ts'
import type { ColumnFile } from '../../../store/column-file.ts'
import {
  keepTable,
  type RateEvent,
  RateEventRow,
  type RateEventTable,
  tableOf,
} from './rate-events.ts'

/** Requests by the name of a key or an account, each group in order of start. The first group began first. */
export interface EventGroups {
  readonly size: number
  /** No requests for an unknown name. */
  get(name: string): readonly RateEvent[]
  values(): Iterable<readonly RateEvent[]>
}

/** Requests of one key in one account. */
interface KeyRecord {
  readonly name: string
  readonly size: number
  readonly first: RateEvent
  events(): readonly RateEvent[]
  /** The same a part at a time, which nothing else keeps. */
  parts(rows: number): Iterable<readonly RateEvent[]>
}

interface AccountRecord {
  readonly name: string
  readonly size: number
  readonly first: RateEvent
  events(): readonly RateEvent[]
}

/** Requests of all accounts, entered one account after the other, in memory or in a file. */
export class EventRecords {
  private readonly file: ColumnFile | undefined
  private readonly keys: KeyRecord[] = []
  private readonly accounts: AccountRecord[] = []

  constructor(file?: ColumnFile) {
    this.file = file
  }

  /** Adds all requests of one account, in order of start. */
  add(table: RateEventTable): void {
    const { columns } = table
    const events = rowsOf(table)
    const { low, high } = balanceBrackets(events)
    columns.balance_low.set(low)
    columns.balance_high.set(high)
    const name = events[0]!.account
    const turns = new Float64Array(table.size)
    const numberOf = new Map<number, number>()
    for (let row = 0; row < table.size; row++) {
      const key = columns.key_fp[row]!
      if (!numberOf.has(key)) numberOf.set(key, numberOf.size)
      turns[row] = numberOf.get(key)!
    }
    const keys = Array.from(numberOf.values(), (key) => this.keyRecord(chosen(table, turns, key)))
    this.keys.push(...keys)
    const order = this.file === undefined ? { values: turns } : this.file.keep(turns)
    this.accounts.push({
      name,
      size: table.size,
      first: keys[0]!.first,
      events: () => inTurn(keys, order.values),
    })
  }

  private keyRecord(table: RateEventTable): KeyRecord {
    const { size } = table
    if (this.file === undefined) {
      const events = rowsOf(table)
      const first = events[0]!
      return { name: first.key, size, first, events: () => events, parts: () => [events] }
    }
    const kept = keepTable(table, this.file)
    const [first] = rowsOf(kept.part(0, 1))
    return {
      name: first!.key,
      size,
      first: first!,
      events: () => rowsOf(kept.table),
      *parts(rows) {
        for (let from = 0; from < size; from += rows) {
          yield rowsOf(kept.part(from, Math.min(from + rows, size)))
        }
      },
    }
  }

  byKey(): EventGroups {
    return new Groups(this.keys, this.file === undefined)
  }

  byAccount(): EventGroups {
    return new Groups(this.accounts, this.file === undefined)
  }

  /** The requests of all accounts in order of start. */
  inOrder(): Iterable<RateEvent> {
    const { keys } = this
    return { [Symbol.iterator]: () => merged(keys) }
  }
}

const rowsOf = (table: RateEventTable): readonly RateEvent[] =>
  Array.from({ length: table.size }, (_, row) => new RateEventRow(table, row))

/** The rows of one key. */
function chosen(table: RateEventTable, turns: Float64Array, key: number): RateEventTable {
  let size = 0
  for (const turn of turns) if (turn === key) size++
  if (size === table.size) return table
  const rows = new Uint32Array(size)
  for (let row = 0, at = 0; row < turns.length; row++) if (turns[row] === key) rows[at++] = row
  return tableOf(table.words, size, (name) => {
    const [all, own] = [table.columns[name], new Float64Array(size)]
    for (let at = 0; at < size; at++) own[at] = all[rows[at]!]!
    return own
  })
}

/** The requests of an account, given which of its keys is next. */
function inTurn(keys: readonly KeyRecord[], turns: Float64Array): readonly RateEvent[] {
  const ofKeys = keys.map((key) => key.events())
  const next = new Uint32Array(keys.length)
  const events: RateEvent[] = []
  for (const key of turns) {
    const at = next[key]!
    events.push(ofKeys[key]![at]!)
    next[key] = at + 1
  }
  return events
}

/** Requests of groups that stay in memory after they were asked for, unless all may. */
const mostAtHand = 1_000_000

/** Groups that are made when they are asked for. */
class Groups implements EventGroups {
  private readonly made: ReadonlyMap<string, readonly Pick<KeyRecord, 'size' | 'events'>[]>
  private readonly keepsAll: boolean
  private readonly atHand = new Map<string, readonly RateEvent[]>()
  private rowsAtHand = 0

  constructor(records: readonly (KeyRecord | AccountRecord)[], keepsAll: boolean) {
    const byStart = records.toSorted((a, b) => inOrder(a.first, b.first))
    this.made = Map.groupBy(byStart, ({ name }) => name)
    this.keepsAll = keepsAll
  }

  get size(): number {
    return this.made.size
  }

  get(name: string): readonly RateEvent[] {
    const known = this.atHand.get(name)
    if (known !== undefined) return known
    const [first, ...others] = this.made.get(name) ?? []
    if (first === undefined) return []
    // A key may have been of another account in another run.
    const events =
      others.length === 0
        ? first.events()
        : [first, ...others].flatMap((record) => record.events()).sort(inOrder)
    this.keep(name, events)
    return events
  }

  *values(): Generator<readonly RateEvent[], void, undefined> {
    for (const name of this.made.keys()) yield this.get(name)
  }

  private keep(name: string, events: readonly RateEvent[]): void {
    this.atHand.set(name, events)
    this.rowsAtHand += events.length
    if (this.keepsAll) return
    for (const [other, rows] of this.atHand) {
      if (this.rowsAtHand <= mostAtHand || other === name) return
      this.atHand.delete(other)
      this.rowsAtHand -= rows.length
    }
  }
}

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

function* merged(keys: readonly KeyRecord[]): Generator<RateEvent, void, undefined> {
  const rows = Math.max(16, Math.floor(mostMerged / keys.length))
  const heap = new Heap()
  for (const key of keys) {
    const events = eventsOf(key.parts(rows))
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
