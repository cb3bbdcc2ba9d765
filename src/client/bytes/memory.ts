/** Longer content is held in pages of this size, so it is not copied as it grows. */
export const pageBytes = 64 * 1024

export interface MemoryFigures {
  readonly maxBytes: number
  readonly peakBytes: number
  readonly givenUp: number
}

/** Bounds the memory of incomplete responses over all connections of a thread: one that does not fit is dropped. */
export class ResponseMemory implements MemoryFigures {
  readonly maxBytes: number
  usedBytes = 0
  peakBytes = 0
  /** Responses that did not fit. */
  givenUp = 0
  private readonly pages: Buffer[] = []

  /** What is used and what free pages hold. */
  get heldBytes(): number {
    return this.usedBytes + this.pages.length * pageBytes
  }

  get figures(): MemoryFigures {
    const { maxBytes, peakBytes, givenUp } = this
    return { maxBytes, peakBytes, givenUp }
  }

  constructor(maxBytes = Number.POSITIVE_INFINITY) {
    this.maxBytes = maxBytes
  }

  /** @returns whether the bytes fit */
  take(bytes: number): boolean {
    if (this.usedBytes + bytes > this.maxBytes) return false
    this.usedBytes += bytes
    if (this.usedBytes > this.peakBytes) this.peakBytes = this.usedBytes
    this.dropPages()
    return true
  }

  give(bytes: number): void {
    this.usedBytes -= bytes
  }

  /** A page, reused if possible; null if it does not fit. */
  takePage(): Buffer | null {
    const free = this.pages.pop()
    if (this.take(pageBytes)) return free ?? Buffer.allocUnsafeSlow(pageBytes)
    if (free !== undefined) this.pages.push(free)
    return null
  }

  /** Free pages hold memory, too: none is kept that would be beyond the bound. */
  private dropPages(): void {
    while (this.heldBytes > this.maxBytes) this.pages.pop()
  }

  givePage(page: Buffer): void {
    this.give(pageBytes)
    this.pages.push(page)
  }
}
