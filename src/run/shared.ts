/**
 * Numbers that all sending threads share, by atomics: what one thread may do can hang on what the
 * others did.
 */
const cells = { credits: 0, failuresInRow: 1, requestsOfPhase: 2 } as const
const phases = 4096

export class SharedNumbers {
  readonly buffer: SharedArrayBuffer
  private readonly cells: Int32Array

  constructor(buffer = new SharedArrayBuffer((cells.requestsOfPhase + phases) * 4)) {
    this.buffer = buffer
    this.cells = new Int32Array(buffer)
  }

  /**
   * Sets credits aside for a request that is about to be sent, unless that could pass the bound.
   * What is in flight counts as spent, so the bound holds whatever comes back.
   */
  reserve(credits: number, bound: number): boolean {
    if (credits === 0) return true
    if (Atomics.add(this.cells, cells.credits, credits) + credits <= bound) return true
    Atomics.sub(this.cells, cells.credits, credits)
    return false
  }

  /** Gives back what was set aside for a request that certainly was not charged. */
  release(credits: number): void {
    if (credits > 0) Atomics.sub(this.cells, cells.credits, credits)
  }

  /** Credits spent or set aside. */
  get credits(): number {
    return Atomics.load(this.cells, cells.credits)
  }

  /** @returns failures in a row over all threads */
  failed(): number {
    return Atomics.add(this.cells, cells.failuresInRow, 1) + 1
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
    return Atomics.add(this.cells, cells.requestsOfPhase + (ordinal % phases), 1)
  }
}

/** A thread's share of a bound: shares add up to the whole. */
export function shareOf(whole: number, shard: number, shards: number): number {
  return Math.floor(whole / shards) + (shard < whole % shards ? 1 : 0)
}
