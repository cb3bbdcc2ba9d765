import type { ReplyReader } from './reply.ts'

const empty = Buffer.alloc(0)

/** Larger bodies are broken: nothing that the contract promises comes near it. */
export const maxBodyBytes = 64 * 1024 * 1024

/**
 * A JSON body, read where it lies when it comes in one piece (most do), else collected first.
 * `onDocument` comes at most once, while the reader holds what the body said.
 */
export class PlainBody {
  private readonly reply: ReplyReader
  private readonly onDocument: (wellFormed: boolean) => void
  private held: Buffer | null = null
  private length = 0
  /** The whole document was read; only white space may follow. */
  private read = false
  /** Something else followed. */
  trailing = false

  constructor(reply: ReplyReader, onDocument: (wellFormed: boolean) => void) {
    this.reply = reply
    this.onDocument = onDocument
  }

  reset(): void {
    this.held = null
    this.length = 0
    this.read = false
    this.trailing = false
  }

  /**
   * @param contentLength of the whole body; NaN when the head did not say
   * @returns false when the body is too large
   */
  add(bytes: Buffer, start: number, end: number, contentLength: number): boolean {
    if (this.read) {
      this.trailing ||= !isBlank(bytes, start, end)
      return true
    }
    if (this.length === 0 && mayBeWhole(bytes, start, end, contentLength)) {
      const wellFormed = this.reply.read(bytes, start, end)
      if (wellFormed || contentLength === end - start) {
        this.read = true
        this.onDocument(wellFormed)
        return true
      }
    }
    const length = this.length + end - start
    if (length > maxBodyBytes) return false
    if (this.held === null || this.held.length < length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(length * 2, 1024))
      this.held?.copy(larger, 0, 0, this.length)
      this.held = larger
    }
    bytes.copy(this.held, this.length, start, end)
    this.length = length
    return true
  }

  /** The body is over. */
  end(): void {
    if (this.read) return
    this.read = true
    this.onDocument(this.reply.read(this.held ?? empty, 0, this.length))
  }
}

/** Worth a try: a scan that ends too early is wasted, so look at the last byte first. */
function mayBeWhole(bytes: Buffer, start: number, end: number, contentLength: number): boolean {
  if (!Number.isNaN(contentLength)) return contentLength === end - start
  const last = bytes[end - 1]!
  return last === 125 || last === 93 || last === 10
}

function isBlank(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!
    if (byte !== 32 && byte !== 10 && byte !== 13 && byte !== 9) return false
  }
  return true
}
