import { balanceBrackets } from '../../../limits/balance.ts'
import { type ColumnFile, freeColumns } from '../../../store/read/column-file.ts'
import { inOrder, merged } from './event-order.ts'
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

interface KeyRecord {
  readonly name: string
  readonly size: number
  readonly first: RateEvent
  events(): readonly RateEvent[]
  /** The same a part at a time, which nothing else keeps. */
  parts(rows: number): Iterable<readonly RateEvent[]>
}

type AccountRecord = Omit<KeyRecord, 'parts'>

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
    const keys = Array.from(numberOf.values(), (key) => {
      const own = chosen(table, turns, key)
      return this.keyRecord(own, own !== table)
    })
    for (const key of keys) this.keys.push(key)
    this.accounts.push(this.accountRecord(name, keys, turns))
  }

  /** Not in `add`: closures of one function share what they use, so the record would keep the account's columns. */
  private accountRecord(
    name: string,
    keys: readonly KeyRecord[],
    turns: Float64Array,
  ): AccountRecord {
    const order = this.file === undefined ? { values: turns } : this.file.keep(turns)
    return {
      name,
      size: turns.length,
      first: keys[0]!.first,
      events: () => inTurn(keys, order.values),
    }
  }

  /** @param isCopy whether nobody else has the columns */
  private keyRecord(table: RateEventTable, isCopy: boolean): KeyRecord {
    const { size } = table
    if (this.file === undefined) {
      const events = rowsOf(table)
      const first = events[0]!
      return { name: first.key, size, first, events: () => events, parts: () => [events] }
    }
    const kept = keepTable(table, this.file)
    if (isCopy) freeColumns(Object.values(table.columns) as Float64Array<ArrayBuffer>[])
    const [first] = rowsOf(kept.part(0, 1))
    return {
      name: first!.key,
      size,
      first: first!,
      events: () => rowsOf(kept.table),
      *parts(rows) {
        for (let from = 0; from < size; from += rows)
          yield rowsOf(kept.part(from, Math.min(from + rows, size)))
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
