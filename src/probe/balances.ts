import { takesPrompt } from '../contract/request.ts'
import { likelyRemaining } from '../credits/said.ts'
import { objectOf } from '../user/json.ts'
import { leavesOf } from './credits-body.ts'
import type { ProbeResponse } from './probe-response.ts'
import type { Prober } from './prober.ts'

/** Most reads of an idle balance, before two in a row agree. */
const settleReads = 12

/** The longest time from a response to its charge, microseconds: a ledger may wait for its disk. */
const mostLateUs = 400_000

/** Most reads of the first balance, before a price is announced. Four reveal what each costs. */
export const firstReads = 6

/** Reads of the balance, as if they were free (gap G-17): differences are the cost of other requests. */
export class Balances {
  /** Path of the remaining credits in the body of the credits endpoint, once known. */
  remainingPath: string | null = null
  readonly readPrices = { models: 0, credits: 0 }
  spentOnReads = 0
  readonly #prober: Prober
  /** End of the last generation, on the run's own clock: moving the service's clock lets no real time pass. */
  #generatedUs = Number.NEGATIVE_INFINITY

  constructor(prober: Prober) {
    this.#prober = prober
  }

  /** Notes the cost of a response to a read. */
  note({ spec: { endpoint }, status }: ProbeResponse): void {
    if ((endpoint === 'models' || endpoint === 'credits') && status === 200)
      this.spentOnReads += this.readPrices[endpoint]
    // An aborted request has no status, but may be charged as well.
    if (takesPrompt(endpoint) && (status === 200 || status === null))
      this.#generatedUs = this.#prober.options.now()
  }

  /** Waits until generations are certain to be charged: two reads may agree before that. */
  async chargesAreIn(): Promise<void> {
    const { now, sleep } = this.#prober.options
    const us = this.#generatedUs + mostLateUs - now()
    if (us > 0) await sleep(us)
  }

  /** Reads once, from the body of the credits endpoint or from its header. */
  async read(): Promise<number | null> {
    const { json, columns, status } = await this.#prober.read('credits', {}, { step: 'balance' })
    if (status !== 200) return null
    const path = this.remainingPath
    const told = path === null ? likelyRemaining(objectOf(json)) : leavesOf(json).get(path)
    const shown = told ?? columns.creditsRemaining
    return shown === null ? null : shown + this.spentOnReads
  }

  /**
   * The balance while nothing is in flight: read until two agree, or until several in a row fall by the same whole number of credits,
   * which is then the price of a read; null if it cannot be read, or never stays.
   */
  async idle(mostReads = settleReads): Promise<number | null> {
    const { budget, sleep } = this.#prober.options
    await this.chargesAreIn()
    const falls: number[] = []
    let last: number | null = null
    for (let reads = 1; reads <= mostReads; reads++) {
      const balance = await this.read()
      if (balance === null) return null
      if (balance === last) {
        budget.observe(balance - this.spentOnReads)
        return balance
      }
      if (last !== null) falls.push(last - balance)
      last = balance
      const price = priceOfRead(falls)
      if (price === null) await sleep(20_000)
      else {
        // From here on, balances ignore the cost of reads, so the next read agrees.
        this.readPrices.credits += price
        this.#prober.readsCost(this.readPrices.credits)
        falls.length = 0
      }
    }
    return null
  }
}

/** So many equal falls in a row are the price of a read. */
const equalFalls = 3

/** The whole number of credits by which the last reads fell; null without one. */
function priceOfRead(falls: readonly number[]): number | null {
  const some = falls.slice(-equalFalls)
  const [first] = some
  return some.length === equalFalls &&
    first !== undefined &&
    first > 0 &&
    Number.isInteger(first) &&
    some.every((fall) => fall === first)
    ? first
    : null
}
