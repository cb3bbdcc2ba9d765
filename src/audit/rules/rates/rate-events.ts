import type { Outcome } from '../../../attempt/outcome.ts'
import { type Contract, pricesOf } from '../../../contract/contract.ts'
import type { Endpoint } from '../../../contract/request.ts'
import type { Bracket } from '../../../limits/balance.ts'
import { type Decision, decisionOf, type LimitedRequest } from '../../../limits/limited-request.ts'
import { type ColumnFile, fieldsOf, type KeptColumn } from '../../../store/read/column-file.ts'
import { largest } from '../../../user/extremes.ts'
import { otherReasonsFor } from './other-429s.ts'

/** A request, with what is known of its account's balance at that moment. */
export interface RateEvent extends LimitedRequest {
  readonly balance: Bracket
  readonly streamed: boolean
  readonly outcome: Outcome
  readonly errorCode: string | null
  readonly errorType: string | null
  readonly flags: number
}

/** Text columns of attempts, as indexes into the words; NaN is null. */
export const wordColumns = [
  ...['run_id', 'key_fp', 'account', 'endpoint', 'model', 'outcome', 'error_code'],
  ...['error_type'],
] as const

/** Number columns; NaN is null. */
export const numberColumns = [
  ...['from_us', 'until_us', 'over_us', 'slot', 'retry', 'status'],
  ...['credits_remaining', 'rate_limit', 'rate_remaining', 'rate_reset'],
  ...['retry_after', 'date_s', 'flags', 'streamed', 'token_limit', 'token_remaining'],
  'total_tokens',
] as const

/** Columns that follow from those of the store. */
const judgedColumns = ['decision', 'cost_credits', 'balance_low', 'balance_high'] as const

const columnNames = [...numberColumns, ...wordColumns, ...judgedColumns] as const
type EventColumn = (typeof columnNames)[number]

/** Events as columns: a million objects of twenty fields would take gigabytes. Words are indexes, decisions those of `decisions`. */
export interface RateEventTable {
  readonly size: number
  readonly words: readonly string[]
  readonly columns: Readonly<Record<EventColumn, Float64Array>>
}

const decisions: readonly Decision[] = ['admitted', 'rejected', 'refused', 'read', 'unknown']

/** @param columns those of `numberColumns`, then those of `wordColumns`, as the store returns them; null is NaN */
export function rateEventTable(
  columns: readonly Float64Array[],
  words: readonly string[],
  contract: Contract,
): RateEventTable {
  const size = columns[0]!.length
  const own = Object.fromEntries(
    [...numberColumns, ...wordColumns].map((name, at) => [name, columns[at]!]),
  ) as Record<(typeof numberColumns)[number] | (typeof wordColumns)[number], Float64Array>
  const prices = new Map(pricesOf(contract).map(({ id, costCredits }) => [id, costCredits]))
  const highest = largest(prices.values(), 1)
  const priceOf = words.map((word) => prices.get(word) ?? highest)
  const isOfAnother = otherReasonsFor(own, words, contract)
  const decision = new Float64Array(size)
  const costCredits = new Float64Array(size)
  for (let row = 0; row < size; row++) {
    const endpoint = words[own.endpoint[row]!] as Endpoint
    const answered = decisionOf(orNull(own.status[row]!), endpoint)
    // A 429 for want of credits, for overload, or by a limit of tokens is none of a limit of requests.
    const isOther = answered === 'rejected' && isOfAnother(row)
    const made = isOther ? 'refused' : answered
    decision[row] = decisions.indexOf(made)
    if (made !== 'admitted' && made !== 'unknown') continue
    if (endpoint !== 'chat' && endpoint !== 'messages') continue
    const model = own.model[row]!
    costCredits[row] = Number.isNaN(model) ? highest : priceOf[model]!
  }
  return {
    size,
    words,
    columns: {
      ...own,
      decision,
      cost_credits: costCredits,
      balance_low: new Float64Array(size).fill(-Infinity),
      balance_high: new Float64Array(size).fill(Infinity),
    },
  }
}

/** The same table with some of its columns: those rows, a part of them, or on disk. */
export function tableOf(
  words: readonly string[],
  size: number,
  column: (name: EventColumn) => Float64Array,
): RateEventTable {
  const columns = Object.fromEntries(columnNames.map((name) => [name, column(name)]))
  return { size, words, columns: columns as RateEventTable['columns'] }
}

/** A table on disk, and how to read a part of it that nothing else keeps. */
export interface KeptTable {
  readonly table: RateEventTable
  part(from: number, to: number): RateEventTable
}

export function keepTable({ size, words, columns }: RateEventTable, file: ColumnFile): KeptTable {
  const kept = Object.fromEntries(
    columnNames.map((name) => [name, file.keep(columns[name])]),
  ) as Record<EventColumn, KeptColumn>
  return {
    table: { size, words, columns: fieldsOf(kept) },
    part: (from, to) => tableOf(words, to - from, (name) => kept[name].part(from, to)),
  }
}

const orNull = (value: number): number | null => (Number.isNaN(value) ? null : value)

export class RateEventRow implements RateEvent {
  private readonly table: RateEventTable
  readonly row: number

  constructor(table: RateEventTable, row: number) {
    this.table = table
    this.row = row
  }

  private word(codes: Float64Array): string | null {
    const code = codes[this.row]!
    return Number.isNaN(code) ? null : this.table.words[code]!
  }

  get runId(): string {
    return this.word(this.table.columns.run_id)!
  }
  get slot(): number {
    return this.table.columns.slot[this.row]!
  }
  get retry(): number {
    return this.table.columns.retry[this.row]!
  }
  get key(): string {
    return this.word(this.table.columns.key_fp)!
  }
  get account(): string {
    return this.word(this.table.columns.account) ?? this.key
  }
  get endpoint(): Endpoint {
    return this.word(this.table.columns.endpoint) as Endpoint
  }
  get decision(): Decision {
    return decisions[this.table.columns.decision[this.row]!]!
  }
  get status(): number | null {
    return orNull(this.table.columns.status[this.row]!)
  }
  get fromUs(): number {
    return this.table.columns.from_us[this.row]!
  }
  get untilUs(): number {
    return this.table.columns.until_us[this.row]!
  }
  get closedUs(): number {
    return this.table.columns.over_us[this.row]!
  }
  get costCredits(): number {
    return this.table.columns.cost_credits[this.row]!
  }
  get credits(): number | null {
    return orNull(this.table.columns.credits_remaining[this.row]!)
  }
  get limit(): number | null {
    return orNull(this.table.columns.rate_limit[this.row]!)
  }
  get remaining(): number | null {
    return orNull(this.table.columns.rate_remaining[this.row]!)
  }
  get reset(): number | null {
    return orNull(this.table.columns.rate_reset[this.row]!)
  }
  get dateS(): number | null {
    return orNull(this.table.columns.date_s[this.row]!)
  }
  get retryAfterS(): number | null {
    return orNull(this.table.columns.retry_after[this.row]!)
  }
  get streamed(): boolean {
    return this.table.columns.streamed[this.row] === 1
  }
  get outcome(): Outcome {
    return this.word(this.table.columns.outcome) as Outcome
  }
  get errorCode(): string | null {
    return this.word(this.table.columns.error_code)
  }
  get errorType(): string | null {
    return this.word(this.table.columns.error_type)
  }
  get flags(): number {
    return this.table.columns.flags[this.row]!
  }
  get balance(): Bracket {
    return {
      low: this.table.columns.balance_low[this.row]!,
      high: this.table.columns.balance_high[this.row]!,
    }
  }
}
