import type { Outcome } from '../../../attempt/outcome.ts'
import { type Contract, pricesOf } from '../../../contract/contract.ts'
import type { Endpoint } from '../../../contract/request.ts'
import type { Bracket } from '../../../limits/balance.ts'
import { type Decision, decisionOf, type LimitedRequest } from '../../../limits/limited-request.ts'

/** A request, with what is known of its account's balance at that moment. */
export interface RateEvent extends LimitedRequest {
  readonly balance: Bracket
  /** Whether it asked for a stream. */
  readonly streamed: boolean
  readonly outcome: Outcome
  readonly errorCode: string | null
  readonly errorType: string | null
  readonly flags: number
}

/** Text columns of attempts, as indexes into the words; -1 is null. */
export const wordColumns = [
  'run_id',
  'key_fp',
  'account',
  'endpoint',
  'model',
  'outcome',
  'error_code',
  'error_type',
] as const

/** Number columns; NaN is null. */
export const numberColumns = [
  'from_us',
  'until_us',
  'over_us',
  'slot',
  'retry',
  'status',
  'credits_remaining',
  'rate_limit',
  'rate_remaining',
  'rate_reset',
  'retry_after',
  'date_s',
  'flags',
  'streamed',
] as const

/**
 * Events as columns. A `Event` shows one row: a million objects with twenty fields each would take gigabytes.
 */
export interface RateEventTable {
  readonly size: number
  readonly words: readonly string[]
  readonly codes: Readonly<Record<(typeof wordColumns)[number], Int32Array>>
  readonly numbers: Readonly<Record<(typeof numberColumns)[number], Float64Array>>
  /** Indexes into `decisions`. */
  readonly decision: Uint8Array
  readonly costCredits: Float64Array
  readonly balanceLow: Float64Array
  readonly balanceHigh: Float64Array
}

const decisions: readonly Decision[] = ['admitted', 'rejected', 'refused', 'read', 'unknown']

/** @param columns those of `numberColumns`, then those of `wordColumns`, as the store returns them */
export function rateEventTable(
  columns: readonly Float64Array[],
  words: readonly string[],
  contract: Contract,
): RateEventTable {
  const size = columns[0]!.length
  const codeColumn = (at: number) => {
    const doubles = columns[numberColumns.length + at]!
    const codes = new Int32Array(size)
    for (let row = 0; row < size; row++)
      codes[row] = Number.isNaN(doubles[row]!) ? -1 : doubles[row]!
    return codes
  }
  const numbers = Object.fromEntries(
    numberColumns.map((name, at) => [name, columns[at]!]),
  ) as RateEventTable['numbers']
  const codes = Object.fromEntries(
    wordColumns.map((name, at) => [name, codeColumn(at)]),
  ) as RateEventTable['codes']
  const prices = new Map(pricesOf(contract).map(({ id, costCredits }) => [id, costCredits]))
  const highest = Math.max(1, ...prices.values())
  const priceOf = words.map((word) => prices.get(word) ?? highest)
  const decision = new Uint8Array(size)
  const costCredits = new Float64Array(size)
  for (let row = 0; row < size; row++) {
    const endpoint = words[codes.endpoint[row]!] as Endpoint
    const made = decisionOf(orNull(numbers.status[row]!), endpoint)
    decision[row] = decisions.indexOf(made)
    if (made !== 'admitted' && made !== 'unknown') continue
    if (endpoint !== 'chat' && endpoint !== 'messages') continue
    costCredits[row] = priceOf[codes.model[row]!] ?? highest
  }
  return {
    size,
    words,
    codes,
    numbers,
    decision,
    costCredits,
    balanceLow: new Float64Array(size).fill(-Infinity),
    balanceHigh: new Float64Array(size).fill(Infinity),
  }
}

function orNull(value: number): number | null {
  return Number.isNaN(value) ? null : value
}

/** One row of a table as a event. */
export class RateEventRow implements RateEvent {
  private readonly table: RateEventTable
  readonly row: number

  constructor(table: RateEventTable, row: number) {
    this.table = table
    this.row = row
  }

  private word(codes: Int32Array): string | null {
    return this.table.words[codes[this.row]!] ?? null
  }

  get runId(): string {
    return this.word(this.table.codes.run_id)!
  }
  get slot(): number {
    return this.table.numbers.slot[this.row]!
  }
  get retry(): number {
    return this.table.numbers.retry[this.row]!
  }
  get key(): string {
    return this.word(this.table.codes.key_fp)!
  }
  get account(): string {
    return this.word(this.table.codes.account) ?? this.key
  }
  get endpoint(): Endpoint {
    return this.word(this.table.codes.endpoint) as Endpoint
  }
  get decision(): Decision {
    return decisions[this.table.decision[this.row]!]!
  }
  get status(): number | null {
    return orNull(this.table.numbers.status[this.row]!)
  }
  get fromUs(): number {
    return this.table.numbers.from_us[this.row]!
  }
  get untilUs(): number {
    return this.table.numbers.until_us[this.row]!
  }
  get closedUs(): number {
    return this.table.numbers.over_us[this.row]!
  }
  get costCredits(): number {
    return this.table.costCredits[this.row]!
  }
  get credits(): number | null {
    return orNull(this.table.numbers.credits_remaining[this.row]!)
  }
  get limit(): number | null {
    return orNull(this.table.numbers.rate_limit[this.row]!)
  }
  get remaining(): number | null {
    return orNull(this.table.numbers.rate_remaining[this.row]!)
  }
  get reset(): number | null {
    return orNull(this.table.numbers.rate_reset[this.row]!)
  }
  get dateS(): number | null {
    return orNull(this.table.numbers.date_s[this.row]!)
  }
  get retryAfterS(): number | null {
    return orNull(this.table.numbers.retry_after[this.row]!)
  }
  get streamed(): boolean {
    return this.table.numbers.streamed[this.row] === 1
  }
  get outcome(): Outcome {
    return this.word(this.table.codes.outcome) as Outcome
  }
  get errorCode(): string | null {
    return this.word(this.table.codes.error_code)
  }
  get errorType(): string | null {
    return this.word(this.table.codes.error_type)
  }
  get flags(): number {
    return this.table.numbers.flags[this.row]!
  }
  get balance(): Bracket {
    return { low: this.table.balanceLow[this.row]!, high: this.table.balanceHigh[this.row]! }
  }
}
