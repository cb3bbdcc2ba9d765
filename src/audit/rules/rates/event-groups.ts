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
    /** The number of the key of each request, in order of the first use of each key. */
    const keyNumbers = new Float64Array(table.size)
    const numberOf = new Map<number, number>()
    for (let row = 0; row < table.size; row++) {
      const key = columns.key_fp[row]!
      if (!numberOf.has(key)) numberOf.set(key, numberOf.size)
      keyNumbers[row] = numberOf.get(key)!
    }
    const keys = Array.from(numberOf.values(), (key) => {
      const own = chosen(table, keyNumbers, key)
      return this.keyRecord(own, own !== table)
    })
    for (const key of keys) this.keys.push(key)
    this.accounts.push(this.accountRecord(name, keys, keyNumbers))
  }

  /** Not in `add`: a closure there would keep all columns of the account alive. */
  private accountRecord(
    name: string,
    keys: readonly KeyRecord[],
    keyNumbers: Float64Array,
  ): AccountRecord {
    const order = this.file === undefined ? { values: keyNumbers } : this.file.keep(keyNumbers)
    return {
      name,
      first: keys[0]!.first,
      events: () => ofAllKeys(keys, order.values),
    }
  }

  /** @param isCopy whether the columns are this table's alone, so that they may be freed once they are in the file */
  private keyRecord(table: RateEventTable, isCopy: boolean): KeyRecord {
    if (this.file === undefined) {
      const events = rowsOf(table)
      const first = events[0]!
      return { name: first.key, first, events: () => events, parts: () => [events] }
    }
    const kept = keepTable(table, this.file)
    if (isCopy) freeColumns(Object.values(table.columns) as Float64Array<ArrayBuffer>[])
    const [first] = rowsOf(kept.part(0, 1))
    const { size } = table
    return {
      name: first!.key,
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
function chosen(table: RateEventTable, keyNumbers: Float64Array, key: number): RateEventTable {
  let size = 0
  for (const each of keyNumbers) if (each === key) size++
  if (size === table.size) return table
  const rows = new Uint32Array(size)
  for (let row = 0, at = 0; row < keyNumbers.length; row++)
    if (keyNumbers[row] === key) rows[at++] = row
  return tableOf(table.words, size, (name) => {
    const [all, own] = [table.columns[name], new Float64Array(size)]
    for (let at = 0; at < size; at++) own[at] = all[rows[at]!]!
    return own
  })
}

/** The requests of an account in order, given the number of the key of each. */
function ofAllKeys(keys: readonly KeyRecord[], keyNumbers: Float64Array): readonly RateEvent[] {
  const ofKeys = keys.map((key) => key.events())
  const next = new Uint32Array(keys.length)
  const events: RateEvent[] = []
  for (const key of keyNumbers) {
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
  private readonly made: ReadonlyMap<string, readonly Pick<KeyRecord, 'events'>[]>
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
