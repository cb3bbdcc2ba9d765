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
    return true
  }

  give(bytes: number): void {
    this.usedBytes -= bytes
  }

  /** A page, reused if possible; null if it does not fit. */
  takePage(): Buffer | null {
    if (!this.take(pageBytes)) return null
    return this.pages.pop() ?? Buffer.allocUnsafeSlow(pageBytes)
  }

  givePage(page: Buffer): void {
    this.give(pageBytes)
    this.pages.push(page)
  }
}
