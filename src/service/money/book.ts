import type { Currency } from '../../money/money.ts'
import {
  fixedText,
  multiply,
  powerOfTen,
  type Rational,
  rational,
  roundWhole,
} from '../../money/rational.ts'
import { onceForEach } from '../../user/once.ts'

/** Charges come to the balance together, at the end of each interval. */
const batchUs = 5e6

interface Page {
  /** Smallest units, charged so far. */
  spent: bigint
  /** Held back for requests in progress. */
  held: bigint
  readonly postings: { readonly atUs: number; readonly units: bigint }[]
}

/**
 * Money of each account, in whole smallest units. What an account has is its credits in the ledger, as
 * amounts of the currency; what it spent is here, and does not outlive the process.
 */
export class Book {
  readonly #currency: Currency
  readonly #creditsOf: (account: number) => number
  readonly #page = onceForEach((_account: number): Page => ({ spent: 0n, held: 0n, postings: [] }))

  constructor(currency: Currency, creditsOf: (account: number) => number) {
    this.#currency = currency
    this.#creditsOf = creditsOf
  }

  /** The nearest whole number of smallest units. */
  unitsOf(amount: Rational): bigint {
    return roundWhole(multiply(amount, powerOfTen(this.#currency.digits)), 'half_even')
  }

  /** Everything that the account ever got. */
  granted(account: number): bigint {
    return BigInt(this.#creditsOf(account)) * 10n ** BigInt(this.#currency.digits)
  }

  spent(account: number): bigint {
    return this.#page(account).spent
  }

  held(account: number): bigint {
    return this.#page(account).held
  }

  hold(account: number, units: bigint): void {
    this.#page(account).held += units
  }

  post(account: number, units: bigint, atUs: number): void {
    const page = this.#page(account)
    page.spent += units
    page.postings.push({ atUs, units })
    // Older ones are in every batch that is shown.
    if (page.postings.length > 10_000) page.postings.splice(0, 5_000)
  }

  /** The spend as of the last batch. */
  spentInBatches(account: number, nowUs: number): bigint {
    const batchEndUs = Math.floor(nowUs / batchUs) * batchUs
    const { spent, postings } = this.#page(account)
    return postings
      .filter(({ atUs }) => atUs > batchEndUs)
      .reduce((sum, { units }) => sum - units, spent)
  }

  /** The exact amount of the currency, without trailing zeros. */
  text(units: bigint): string {
    const { digits } = this.#currency
    const text = fixedText(rational(units, 10n ** BigInt(digits)), digits)
    return text.includes('.') ? text.replace(/\.?0+$/, '') : text
  }
}
