import { moneyBytes, SharedMoney } from '../money/shared-money.ts'

/**
 * Numbers that all sending threads share by atomics, because a thread's limits depend on the others.
 */
const cells = { credits: 0, bound: 1, failuresInRow: 2, requestsOfPhase: 3 } as const
/** Means no bound. */
const boundless = 0x7fffffff
const phases = 4096
/** Money comes after the counts, at a multiple of 8 bytes. */
const countsBytes = Math.ceil(((cells.requestsOfPhase + phases) * 4) / 8) * 8

export class SharedNumbers {
  readonly buffer: SharedArrayBuffer
  readonly money: SharedMoney
  private readonly cells: Int32Array
  private readonly alone: boolean

  /**
   * @param alone no other thread adds: plain additions, which are faster than atomic ones, then suffice
   */
  constructor(buffer?: SharedArrayBuffer, alone = false) {
    this.buffer = buffer ?? new SharedArrayBuffer(countsBytes + moneyBytes)
    this.alone = alone
    this.cells = new Int32Array(this.buffer, 0, countsBytes / 4)
    this.money = new SharedMoney(this.buffer, countsBytes, buffer === undefined)
    if (buffer === undefined) this.bound = boundless
  }

  /** Credits that may be spent or reserved. */
  get bound(): number {
    return Atomics.load(this.cells, cells.bound)
  }

  set bound(credits: number) {
    Atomics.store(this.cells, cells.bound, Math.min(credits, boundless))
  }

  /** Lowers the bound, unless too many credits are spent. @returns credits given up: all or 0 */
  giveUp(credits: number): number {
    Atomics.sub(this.cells, cells.bound, credits)
    if (this.credits <= this.bound) return credits
    Atomics.add(this.cells, cells.bound, credits)
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
    if (this.add(cells.credits, credits) + credits <= this.bound) return true
    this.add(cells.credits, -credits)
    return false
  }

  /** Returns the credits of a request that was certainly not charged. */
  release(credits: number): void {
    if (credits > 0) this.add(cells.credits, -credits)
  }

  /** Credits spent or reserved. */
  get credits(): number {
    return Atomics.load(this.cells, cells.credits)
  }

  /** @returns failures in a row over all threads */
  failed(): number {
    return this.add(cells.failuresInRow, 1) + 1
  }

  succeeded(): void {
    // A read of a value in all cores' caches is cheap; a write is not.
    if (this.failuresInRow !== 0) Atomics.store(this.cells, cells.failuresInRow, 0)
  }

  get failuresInRow(): number {
    return Atomics.load(this.cells, cells.failuresInRow)
  }

  /** Takes the next request of a closed phase. @returns its index, from 0 */
  nextRequest(ordinal: number): number {
    return this.add(cells.requestsOfPhase + (ordinal % phases), 1)
  }

  /** @returns what it was before */
  private add(cell: number, amount: number): number {
    if (!this.alone) return Atomics.add(this.cells, cell, amount)
    const before = this.cells[cell]!
    this.cells[cell] = before + amount
    return before
  }
}

/** A thread's share of a bound; the shares sum to the whole. */
export function shareOf(whole: number, shard: number, shards: number): number {
  return Math.floor(whole / shards) + (shard < whole % shards ? 1 : 0)
}
