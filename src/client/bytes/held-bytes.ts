import { pageBytes, type ResponseMemory } from './memory.ts'

const none = Buffer.alloc(0)

/** Bytes of an incomplete event, line or body: up to a page in a buffer that grows, more in pages that are joined when read. */
export class HeldBytes {
  length = 0
  private readonly memory: ResponseMemory
  private first: Buffer = none
  private readonly pages: Buffer[] = []
  private joined: Buffer | null = null

  constructor(memory: ResponseMemory) {
    this.memory = memory
  }

  /** @returns false if there is no memory */
  add(bytes: Buffer, start: number, end: number): boolean {
    let at = start
    while (at < end) {
      const offset = this.length % pageBytes
      const length = Math.min(pageBytes - offset, end - at)
      const page = this.length < pageBytes ? this.grown(offset + length) : this.pageAt(this.length)
      if (page === null) return false
      bytes.copy(page, offset, at, at + length)
      this.length += length
      at += length
    }
    return true
  }

  /** All bytes: the first `length` of the result; null if there is no memory to join them. */
  bytes(): Buffer | null {
    if (this.pages.length === 0) return this.first
    if (this.joined !== null) return this.joined
    if (!this.memory.take(this.length)) return null
    this.joined = Buffer.concat([this.first.subarray(0, pageBytes), ...this.pages], this.length)
    return this.joined
  }

  /** Empties it, but keeps the first buffer for reuse. */
  clear(): void {
    this.length = 0
    if (this.joined !== null) this.memory.give(this.joined.length)
    this.joined = null
    for (let page = this.pages.pop(); page !== undefined; page = this.pages.pop())
      this.memory.givePage(page)
  }

  /** Empties it and frees all buffers. */
  drop(): void {
    if (this.first === none) return
    this.clear()
    this.memory.give(this.first.length)
    this.first = none
  }

  private grown(length: number): Buffer | null {
    if (this.first.length >= length) return this.first
    const larger = Math.min(pageBytes, Math.max(256, length + (length >> 1)))
    if (!this.memory.take(larger - this.first.length)) return null
    const first = Buffer.allocUnsafeSlow(larger)
    this.first.copy(first, 0, 0, this.length)
    this.first = first
    return first
  }

  private pageAt(at: number): Buffer | null {
    const index = Math.floor(at / pageBytes) - 1
    const known = this.pages[index]
    if (known !== undefined) return known
    const page = this.memory.takePage()
    if (page !== null) this.pages.push(page)
    return page
  }
}
