/**
 * Numbers that all sending threads share, by atomics: what one thread may do can hang on what the
 * others did.
 */
const cells = { credits: 0, bound: 1, failuresInRow: 2, requestsOfPhase: 3 } as const
/** Stands for no bound. */
const boundless = 0x7fffffff
const phases = 4096

export class SharedNumbers {
  readonly buffer: SharedArrayBuffer
  private readonly cells: Int32Array
  private readonly alone: boolean

  /**
   * @param alone no other thread writes while this one does: then a sum is a plain one, where an
   *   atomic one would be a call of its own
   */
  constructor(buffer?: SharedArrayBuffer, alone = false) {
    this.buffer = buffer ?? new SharedArrayBuffer((cells.requestsOfPhase + phases) * 4)
    this.alone = alone
    this.cells = new Int32Array(this.buffer)
    if (buffer === undefined) this.bound = boundless
  }

  /** Credits that may be spent or set aside. */
  get bound(): number {
    return Atomics.load(this.cells, cells.bound)
  }

  set bound(credits: number) {
    Atomics.store(this.cells, cells.bound, Math.min(credits, boundless))
  }

  /** Lowers the bound, unless that much is spent by now. @returns by how many credits */
  giveUp(credits: number): number {
    Atomics.sub(this.cells, cells.bound, credits)
    if (this.credits <= this.bound) return credits
    Atomics.add(this.cells, cells.bound, credits)
    return 0
  }

  /**
   * Sets credits aside for a request that is about to be sent, unless that could pass the bound.
   * What is in flight counts as spent, so the bound holds whatever comes back.
   */
  reserve(credits: number): boolean {
    if (credits === 0) return true
    if (this.add(cells.credits, credits) + credits <= this.bound) return true
    this.add(cells.credits, -credits)
    return false
  }

  /** Gives back what was set aside for a request that certainly was not charged. */
  release(credits: number): void {
    if (credits > 0) this.add(cells.credits, -credits)
  }

  /** Credits spent or set aside. */
  get credits(): number {
    return Atomics.load(this.cells, cells.credits)
  }

  /** @returns failures in a row over all threads */
  failed(): number {
    return this.add(cells.failuresInRow, 1) + 1
  }

  succeeded(): void {
    // A look is cheap where the same number lies in all cores' caches; a write is not.
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

/** A thread's share of a bound: shares add up to the whole. */
export function shareOf(whole: number, shard: number, shards: number): number {
  return Math.floor(whole / shards) + (shard < whole % shards ? 1 : 0)
}
