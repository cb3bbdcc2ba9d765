import { viewOf } from '../attempt/bytes.ts'

const LF = 10
const CR = 13
const COLON = 58
const SPACE = 32
/** `data: ` as it stands in nearly all lines: its first four bytes and its last two, as numbers. */
const DATA = 0x61746164
const COLON_SPACE = 0x203a

/** Receives events. The bytes are valid during the call only. */
export interface SseSink {
  /**
   * One event that had a `data` line: `bytes[start..end)` is its data, lines joined by LF.
   */
  onEvent(bytes: Buffer, start: number, end: number): void
}

/**
 * Server-sent events: bytes in, events out (WHATWG HTML, 9.2.6). No I/O, no strings.
 *
 *     feed ─▶ lines (LF, CR, CRLF; cut anywhere) ─▶ fields ─▶ blank line ─▶ onEvent
 *
 * An event that lies whole in one read, with one data line, is handed on where it lies, and nothing
 * is written for it. What is incomplete at the end of a read is copied: the partial line, and data
 * whose blank line has not come. What was copied is not scanned again, so an event cut at every byte
 * costs no more than its copy.
 */
export class SseDecoder {
  /** Bytes read that belong to no finished event; 0 after a well-ended stream. */
  get pendingBytes(): number {
    return this.partialLength + (this.dataLines > 0 ? this.dataEnd - this.dataStart + 1 : 0)
  }

  private readonly sink: SseSink
  /** Nothing of the last read is left to remember, so that an event may begin here. */
  private between = false
  private readonly maxEventBytes: number
  private partial: Buffer | null = null
  private partialLength = 0
  /** Where the data of the current event lies: in the read, or in `held` once it was copied. */
  private dataBytes: Buffer | null = null
  private dataStart = 0
  private dataEnd = 0
  private dataLines = 0
  private held: Buffer | null = null
  private afterCr = false
  private atStart = true

  /** @param maxEventBytes a longer line or event ends the decoding: `feed` returns false */
  constructor(sink: SseSink, maxEventBytes = 16 * 1024 * 1024) {
    this.sink = sink
    this.maxEventBytes = maxEventBytes
  }

  /** Back to the start of a stream; memory that a long event took is let go. */
  reset(): void {
    this.partial = null
    this.held = null
    this.dataBytes = null
    this.partialLength = 0
    this.dataLines = 0
    this.dataStart = 0
    this.dataEnd = 0
    this.afterCr = false
    this.atStart = true
    this.between = false
  }

  /**
   * Reads `bytes[start..end)`.
   *
   * @returns false when an event grew beyond its bound; nothing may be fed after that
   */
  feed(bytes: Buffer, start: number, end: number): boolean {
    const from = this.between ? this.wholeEvents(bytes, start, end) : start
    return from === end || this.lines(bytes, from, end)
  }

  /** Hands on events of one line `data: …` and one blank line. @returns where the first other line begins */
  private wholeEvents(bytes: Buffer, start: number, end: number): number {
    const view = viewOf(bytes)
    let from = start
    // No such event is shorter.
    while (end - from >= 8) {
      if (view.getInt32(from, true) !== DATA || view.getInt16(from + 4, true) !== COLON_SPACE) break
      const at = lineEnd(bytes, view, from + 6, end)
      if (at + 1 >= end || view.getInt16(at) !== LF * 257) break
      this.sink.onEvent(bytes, from + 6, at)
      from = at + 2
    }
    return from
  }

  private lines(bytes: Buffer, start: number, end: number): boolean {
    const view = viewOf(bytes)
    let from = start
    if (this.afterCr) {
      if (bytes[from] === LF) from++
      this.afterCr = false
    }
    while (from < end) {
      let at = lineEnd(bytes, view, from, end)
      if (at === end) break
      if (this.partialLength > 0) this.endPartialLine(bytes, from, at)
      else this.line(bytes, from, at)
      if (bytes[at] === CR) {
        if (at + 1 === end) this.afterCr = true
        else if (bytes[at + 1] === LF) at++
      }
      from = at + 1
    }
    if (from < end) this.keepPartial(bytes, from, end)
    if (this.dataLines > 0 && this.dataBytes === bytes) this.holdData()
    const { pendingBytes } = this
    this.between = pendingBytes === 0 && !this.afterCr && !this.atStart
    return pendingBytes <= this.maxEventBytes
  }

  /** The line began in an earlier read: join it, read it, and let nothing point into the join. */
  private endPartialLine(bytes: Buffer, start: number, end: number): void {
    this.keepPartial(bytes, start, end)
    const line = this.partial!
    const length = this.partialLength
    this.partialLength = 0
    this.line(line, 0, length)
    if (this.dataLines > 0 && this.dataBytes === line) this.holdData()
  }

  private keepPartial(bytes: Buffer, start: number, end: number): void {
    const length = this.partialLength + end - start
    this.partial = grown(this.partial, this.partialLength, length)
    bytes.copy(this.partial, this.partialLength, start, end)
    this.partialLength = length
  }

  private line(bytes: Buffer, start: number, end: number): void {
    let from = start
    if (this.atStart) {
      this.atStart = false
      if (end - from >= 3 && isByteOrderMark(bytes, from)) from += 3
    }
    if (from === end) {
      this.dispatch()
      return
    }
    // Only `data` matters: events say what they are in their JSON, and comments, ids and retry
    // times have no meaning to a reader that never reconnects.
    if (
      bytes[from] !== 100 ||
      bytes[from + 1] !== 97 ||
      bytes[from + 2] !== 116 ||
      bytes[from + 3] !== 97
    ) {
      return
    }
    const nameEnd = from + 4
    if (nameEnd > end) return
    let value = nameEnd
    if (nameEnd < end) {
      if (bytes[nameEnd] !== COLON) return
      value++
      if (value < end && bytes[value] === SPACE) value++
    }
    this.data(bytes, value, end)
  }

  private data(bytes: Buffer, start: number, end: number): void {
    if (this.dataLines === 0) {
      this.dataBytes = bytes
      this.dataStart = start
      this.dataEnd = end
      this.dataLines = 1
      return
    }
    if (this.dataBytes !== this.held || this.held === null) this.holdData()
    const length = this.dataEnd + 1 + end - start
    this.held = grown(this.held, this.dataEnd, length)
    this.dataBytes = this.held
    this.held[this.dataEnd] = LF
    bytes.copy(this.held, this.dataEnd + 1, start, end)
    this.dataEnd = length
    this.dataLines++
  }

  /** Moves the data of the unfinished event into memory of our own. */
  private holdData(): void {
    const from = this.dataBytes!
    const length = this.dataEnd - this.dataStart
    const held = grown(this.held === from ? null : this.held, 0, length)
    from.copy(held, 0, this.dataStart, this.dataEnd)
    this.held = held
    this.dataBytes = held
    this.dataStart = 0
    this.dataEnd = length
  }

  private dispatch(): void {
    if (this.dataLines === 0) return
    const bytes = this.dataBytes!
    const { dataStart, dataEnd } = this
    this.dataLines = 0
    this.dataBytes = null
    this.dataStart = 0
    this.dataEnd = 0
    this.sink.onEvent(bytes, dataStart, dataEnd)
  }
}

/** A buffer of at least `length` bytes that begins with the first `kept` bytes of `buffer`. */
function grown(buffer: Buffer | null, kept: number, length: number): Buffer {
  if (buffer !== null && buffer.length >= length) return buffer
  const larger = Buffer.allocUnsafeSlow(Math.max(256, length + (length >> 1)))
  if (buffer !== null && kept > 0) buffer.copy(larger, 0, 0, kept)
  return larger
}

function isByteOrderMark(bytes: Buffer, at: number): boolean {
  return bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf
}

/** Where the line that begins at `from` ends: at a LF or CR before `end`, else at `end`. */
function lineEnd(bytes: Buffer, view: DataView, from: number, end: number): number {
  let at = from
  for (;;) {
    // Eight bytes a turn while there is no control character among them (Warren, Hacker's Delight, 6-1).
    while (at + 8 <= end) {
      const one = view.getInt32(at, true)
      const two = view.getInt32(at + 4, true)
      if (((((one - 0x20202020) & ~one) | ((two - 0x20202020) & ~two)) & highBits) !== 0) break
      at += 8
    }
    for (const stop = Math.min(at + 8, end); at < stop; at++) {
      if (bytes[at] === LF || bytes[at] === CR) return at
    }
    if (at === end) return end
  }
}

const highBits = 0x80808080 | 0
