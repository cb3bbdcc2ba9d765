/** Bytes of a page: what is longer than one is held in pages, so that nothing is copied as it grows. */
export const pageBytes = 64 * 1024

export interface MemoryFigures {
  readonly maxBytes: number
  readonly peakBytes: number
  readonly givenUp: number
}

/**
 * What the answers of a thread may hold at a time while they are read, over all its connections:
 * lines that have not ended, bodies that are not whole, bytes that are captured. An answer that does
 * not fit any more is given up, so that no service decides how much memory a run takes.
 */
export class AnswerMemory implements MemoryFigures {
  readonly maxBytes: number
  usedBytes = 0
  peakBytes = 0
  /** Answers that did not fit. */
  givenUp = 0
  private readonly pages: Buffer[] = []

  /** Of the whole life of it. */
  get figures(): MemoryFigures {
    const { maxBytes, peakBytes, givenUp } = this
    return { maxBytes, peakBytes, givenUp }
  }

  constructor(maxBytes = Number.POSITIVE_INFINITY) {
    this.maxBytes = maxBytes
  }

  /** @returns whether there is room for so many more */
  take(bytes: number): boolean {
    if (this.usedBytes + bytes > this.maxBytes) return false
    this.usedBytes += bytes
    if (this.usedBytes > this.peakBytes) this.peakBytes = this.usedBytes
    return true
  }

  give(bytes: number): void {
    this.usedBytes -= bytes
  }

  /** Null when there is no room; what was given back is used again. */
  takePage(): Buffer | null {
    if (!this.take(pageBytes)) return null
    return this.pages.pop() ?? Buffer.allocUnsafeSlow(pageBytes)
  }

  givePage(page: Buffer): void {
    this.give(pageBytes)
    this.pages.push(page)
  }
}
