import type { PriceTerms } from '../../contract/prices.ts'
import type { Rational } from '../../money/rational.ts'
import type { Kit } from '../behaviour.ts'
import type { Call } from '../call.ts'
import { billFor } from './bill.ts'
import type { Book } from './book.ts'
import type { ActiveMoneyFault, Enforcement } from './faults/money-fault.ts'
import type { Incoming, Meter } from './metering.ts'
import { value } from './sheet.ts'

/** For a deposit only: the longest that a request by the second is assumed to take. */
const assumedS = 60

/** What a request is known to need before it is admitted. */
export interface Prepared {
  readonly incoming: Incoming
  readonly deposit: Rational
}

/** Decides which requests an account can pay, by the most that each can cost. */
export class MoneyAdmission {
  readonly #kit: Kit
  readonly #terms: PriceTerms
  readonly #faults: readonly ActiveMoneyFault[]
  readonly #meter: Meter
  readonly book: Book

  constructor(
    kit: Kit,
    terms: PriceTerms,
    faults: readonly ActiveMoneyFault[],
    meter: Meter,
    book: Book,
  ) {
    this.#kit = kit
    this.#terms = terms
    this.#faults = faults
    this.#meter = meter
    this.book = book
  }

  free(account: number): bigint {
    return this.book.granted(account) - this.book.spent(account) - this.book.held(account)
  }

  /** The fault of enforcement that strikes, if any. */
  #enforcement(): Enforcement {
    const struck = this.#faults.find(
      ({ fault, strikes }) => fault.enforcement !== undefined && strikes(this.#kit.random),
    )
    return struck?.fault.enforcement ?? 'honest'
  }

  readonly #prepared = new WeakMap<Call, Prepared>()

  prepared(call: Call): Prepared | undefined {
    return this.#prepared.get(call)
  }

  /** Counts the input and computes the most that the request can cost. */
  estimate(call: Call): number {
    const { contract, clock } = this.#kit
    const nowUs = clock.nowUs()
    const incoming = this.#meter.incoming(call, nowUs)
    if (incoming === null || call.request === null) return 0
    const most = Math.min(call.request.maxTokens, contract.limits.maxOutputTokens) * call.request.n
    const whole = { choices: [], promptTokens: call.promptTokens, completionTokens: most }
    const metered = this.#meter.metered(call, incoming, most, whole, 'success', nowUs)
    const bill = billFor(this.#terms, {
      ...metered,
      counts: { ...metered.counts, output_visible: 0, reasoning: most },
      calls: { ...metered.calls, second: assumedS },
    })
    const plain = billFor(this.#terms, {
      ...metered,
      calls: { ...metered.calls, second: assumedS },
    })
    const deposit = value(bill.cost) > value(plain.cost) ? bill.cost : plain.cost
    this.#prepared.set(call, { incoming, deposit })
    const account = call.key?.accountId ?? 0
    call.money = {
      price: this.book.text(this.book.unitsOf(deposit)),
      balance: this.book.text(this.free(account)),
      currency: this.#terms.currency.name,
    }
    return Math.ceil(value(deposit))
  }

  affords(call: Call): boolean {
    const prepared = this.#prepared.get(call)
    if (prepared === undefined || call.key === null) return true
    const account = call.key.accountId
    const units = this.book.unitsOf(prepared.deposit)
    switch (this.#enforcement()) {
      case 'honest':
        return this.free(account) >= units
      case 'overdraft':
        return this.book.granted(account) - this.book.spent(account) > 0n
      case 'counter-doubled': {
        const counted = 2n * this.book.spent(account)
        const granted = this.book.granted(account)
        if (granted - counted >= units) return true
        call.money = {
          ...call.money!,
          counter: `${this.book.text(counted)} of ${this.book.text(granted)}`,
        }
        return false
      }
      case 'budget-ignored':
        return true
    }
  }
}
