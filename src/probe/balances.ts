import { likelyRemaining } from '../credits/said.ts'
import { objectOf } from '../user/json.ts'
import { leavesOf } from './credits-body.ts'
import type { ProbeResponse } from './probe-response.ts'
import type { Prober } from './prober.ts'

/** Most reads of an idle balance, before two in a row agree. */
const settleReads = 12

/** The longest time from a response to its charge, microseconds: a ledger may wait for its disk. */
const mostLateUs = 400_000

/** Most reads of the first balance, before a price is announced. Four reveal that each costs one credit. */
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
    const isRead = endpoint === 'models' || endpoint === 'credits'
    if (isRead && status === 200) this.spentOnReads += this.readPrices[endpoint]
    // An aborted request has no status, but may be charged as well.
    if (!isRead && (status === 200 || status === null))
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

  /** The balance while nothing is in flight: read until two agree, or several in a row cost a credit each; null if it cannot be read. */
  async idle(mostReads = settleReads): Promise<number | null> {
    const { budget, sleep } = this.#prober.options
    await this.chargesAreIn()
    let last: number | null = null
    let falls = 0
    for (let reads = 1; reads <= mostReads; reads++) {
      let balance = await this.read()
      if (balance === null) return null
      falls = last !== null && last - balance === 1 ? falls + 1 : 0
      if (falls === 3 && reads < mostReads) {
        this.readPrices.credits = 1
        // From here on, balances ignore the cost of reads, so the next read agrees.
        last = balance
        reads++
        balance = await this.read()
        if (balance === null) return null
      }
      if (balance === last) {
        budget.observe(balance - this.spentOnReads)
        return balance
      }
      last = balance
      await sleep(20_000)
    }
    return last
  }
}
