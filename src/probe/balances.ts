import { leavesOf, remainingIn } from './credits-body.ts'
import type { ProbeResponse } from './probe-response.ts'
import type { Prober } from './prober.ts'

/** How often an idle read is repeated until two in a row agree. */
const settleReads = 12

/** How long after its answer a generation may still be charged: a ledger may wait for its disk. */
const mostLateUs = 400_000

/** Reads of the first balance at most, before a price can stand: four tell that each of them costs one. */
export const firstReads = 6

/**
 * Reads of the balance. Where reads cost credits (gap G-17), balances are told as if they did not:
 * differences are then what other requests took.
 */
export class Balances {
  /** Path of the remaining credits in the body of the credits endpoint, once it is known. */
  remainingPath: string | null = null
  /** What a successful read costs, once it is known. */
  readonly readPrices = { models: 0, credits: 0 }
  /** Credits that reads of a known price have taken. */
  spentOnReads = 0
  readonly #prober: Prober
  /** When the last generation was over, by the run's own clock: jumps of the service's let no time pass. */
  #generatedUs = Number.NEGATIVE_INFINITY

  constructor(prober: Prober) {
    this.#prober = prober
  }

  /** Notes what a response that came back has cost, when it is a read. */
  note({ spec: { endpoint }, status }: ProbeResponse): void {
    const isRead = endpoint === 'models' || endpoint === 'credits'
    if (isRead && status === 200) this.spentOnReads += this.readPrices[endpoint]
    // One that was left has no status, and may be charged as well.
    if (!isRead && (status === 200 || status === null)) {
      this.#generatedUs = this.#prober.options.now()
    }
  }

  /** Waits until what was generated has surely been charged: two reads may agree before that. */
  async chargesAreIn(): Promise<void> {
    const { now, sleep } = this.#prober.options
    const us = this.#generatedUs + mostLateUs - now()
    if (us > 0) await sleep(us)
  }

  /** One read, from the body of the credits endpoint or from its header. */
  async read(): Promise<number | null> {
    const { json, columns, status } = await this.#prober.read('credits', {}, { step: 'balance' })
    if (status !== 200) return null
    const shown = remainingIn(leavesOf(json), this.remainingPath) ?? columns.creditsRemaining
    return shown === null ? null : shown + this.spentOnReads
  }

  /**
   * The balance while nothing is in flight: read until two reads agree, or until each of several
   * has cost one credit; null where it cannot be read.
   *
   * @param mostReads to be made
   */
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
        // As if free from here on: the next read tells the same.
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
