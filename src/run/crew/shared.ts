import { moneyBytes, SharedMoney } from '../money/shared-money.ts'

/** Numbers that all sending threads share by atomics, because a thread's limits depend on the others. */
const amounts = { credits: 0, bound: 1 } as const
/** No sum of credits comes near it. */
const boundless = 2n ** 62n
/** Phases whose requests are counted at a time: a later one takes the place of one that is long over. */
const phases = 4096
/** A count is behind the ordinal of its phase, so that a phase does not go on with the count of another. */
const countBits = 40n
const amountsBytes = (Object.keys(amounts).length + phases) * 8
/** The failures in a row come after them, and the money at a multiple of 8 bytes. */
const countsBytes = amountsBytes + 8

export class SharedNumbers {
  readonly buffer: SharedArrayBuffer
  readonly money: SharedMoney
  private readonly amounts: BigInt64Array
  private readonly requests: BigInt64Array
  private readonly failures: Int32Array
  private readonly alone: boolean

  /**
   * @param alone no other thread adds: plain additions, which are faster than atomic ones, then suffice
   */
  constructor(buffer?: SharedArrayBuffer, alone = false) {
    this.buffer = buffer ?? new SharedArrayBuffer(countsBytes + moneyBytes)
    this.alone = alone
    const own = Object.keys(amounts).length
    this.amounts = new BigInt64Array(this.buffer, 0, own)
    this.requests = new BigInt64Array(this.buffer, own * 8, phases)
    this.failures = new Int32Array(this.buffer, amountsBytes, 1)
    this.money = new SharedMoney(this.buffer, countsBytes, buffer === undefined)
    if (buffer === undefined) Atomics.store(this.amounts, amounts.bound, boundless)
  }

  /** Credits that may be spent or reserved. */
  get bound(): number {
    return Number(Atomics.load(this.amounts, amounts.bound))
  }

  set bound(credits: number) {
    const isBound = credits < Number(boundless)
    Atomics.store(this.amounts, amounts.bound, isBound ? whole(credits) : boundless)
  }

  /** Lowers the bound, unless too many credits are spent. @returns credits given up: all or 0 */
  giveUp(credits: number): number {
    Atomics.sub(this.amounts, amounts.bound, whole(credits))
    if (this.credits <= this.bound) return credits
    Atomics.add(this.amounts, amounts.bound, whole(credits))
    return 0
  }

  /**
   * Reserves credits for a request, unless that could exceed the bound. Requests in flight count as spent,
   * so the bound holds whatever their responses.
   *
   * @returns whether they were reserved
   */
  reserve(credits: number): boolean {
    if (credits === 0) return true
    if (this.spend(credits) + credits <= this.bound) return true
    this.spend(-credits)
    return false
  }

  /** Returns the credits of a request that was certainly not charged. */
  release(credits: number): void {
    if (credits > 0) this.spend(-credits)
  }

  /** Credits spent or reserved. */
  get credits(): number {
    return Number(Atomics.load(this.amounts, amounts.credits))
  }

  /** @returns failures in a row over all threads */
  failed(): number {
    return this.alone ? ++this.failures[0]! : Atomics.add(this.failures, 0, 1) + 1
  }

  succeeded(): void {
    // A read of a value in all cores' caches is cheap; a write is not.
    if (this.failuresInRow !== 0) Atomics.store(this.failures, 0, 0)
  }

  get failuresInRow(): number {
    return Atomics.load(this.failures, 0)
  }

  /** Takes the next request of a closed phase. @param ordinal its place among the phases of the run @returns its index, from 0 */
  nextRequest(ordinal: number): number {
    const cell = ordinal % phases
    const first = BigInt(ordinal) << countBits
    for (;;) {
      const before = Atomics.load(this.requests, cell)
      const next = before < first ? first : before
      const seen = Atomics.compareExchange(this.requests, cell, before, next + 1n)
      if (seen === before) return Number(next - first)
    }
  }

  /** @returns credits spent or reserved before */
  private spend(credits: number): number {
    const amount = whole(credits)
    if (!this.alone) return Number(Atomics.add(this.amounts, amounts.credits, amount))
    const before = this.amounts[amounts.credits]!
    this.amounts[amounts.credits] = before + amount
    return Number(before)
  }
}

/** A thread's share of a bound; the shares sum to the whole. */
export const shareOf = (whole: number, shard: number, shards: number): number =>
  Math.floor(whole / shards) + (shard < whole % shards ? 1 : 0)

/** A part of a credit counts as a whole one, so that a bound holds. */
const whole = (credits: number) => BigInt(Math.sign(credits) * Math.ceil(Math.abs(credits)))
