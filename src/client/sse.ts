import { viewOf } from '../attempt/bytes.ts'
import { HeldBytes } from './held-bytes.ts'
import type { AnswerMemory } from './memory.ts'

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
 * costs no more than its copy. A line that is no data is not kept, however long it is.
 */
export class SseDecoder {
  /** Bytes read that belong to no finished event; 0 after a well-ended stream. */
  get pendingBytes(): number {
    return this.partial.length + (this.dataLines > 0 ? this.dataEnd - this.dataStart + 1 : 0)
  }

  private readonly sink: SseSink
  /** Nothing of the last read is left to remember, so that an event may begin here. */
  private between = false
  private readonly maxEventBytes: number
  private readonly partial: HeldBytes
  /** The partial line is none that anybody reads. */
  private unread = false
  /** Where the data of the current event lies: in a read or a line; null once it was copied to `held`. */
  private dataBytes: Buffer | null = null
  private dataStart = 0
  private dataEnd = 0
  private dataLines = 0
  private readonly held: HeldBytes
  /** There was no room for what is not whole. */
  private full = false
  private afterCr = false
  private atStart = true

  /** @param maxEventBytes a longer line or event ends the decoding */
  constructor(sink: SseSink, memory: AnswerMemory, maxEventBytes = 16 * 1024 * 1024) {
    this.sink = sink
    this.maxEventBytes = maxEventBytes
    this.partial = new HeldBytes(memory)
    this.held = new HeldBytes(memory)
  }

  /** Back to the start of a stream; memory that a long event took is let go. */
  reset(): void {
    this.partial.drop()
    this.held.drop()
    this.unread = false
    this.full = false
    this.dataBytes = null
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
   * @returns why nothing may be fed after this: an event is beyond its bound, or there is no room for
   * it; null while all is well
   */
  feed(bytes: Buffer, start: number, end: number): 'too-large' | 'no-memory' | null {
    const from = this.between ? this.wholeEvents(bytes, start, end) : start
    if (from === end) return null
    this.lines(bytes, from, end)
    if (this.full) return 'no-memory'
    return this.pendingBytes > this.maxEventBytes ? 'too-large' : null
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

  private lines(bytes: Buffer, start: number, end: number): void {
    const view = viewOf(bytes)
    let from = start
    if (this.afterCr) {
      if (bytes[from] === LF) from++
      this.afterCr = false
    }
    while (from < end) {
      let at = lineEnd(bytes, view, from, end)
      if (at === end) break
      if (this.unread) this.endUnreadLine()
      else if (this.partial.length > 0) this.endPartialLine(bytes, from, at)
      else this.line(bytes, from, at)
      if (bytes[at] === CR) {
        if (at + 1 === end) this.afterCr = true
        else if (bytes[at + 1] === LF) at++
      }
      from = at + 1
    }
    if (from < end) this.keepPartial(bytes, from, end)
    if (this.dataLines > 0 && this.dataBytes === bytes) this.holdData()
    this.between = this.pendingBytes === 0 && !this.unread && !this.afterCr && !this.atStart
  }

  private endUnreadLine(): void {
    this.unread = false
    this.atStart = false
  }

  /** The line began in an earlier read: join it, read it, and let nothing point into the join. */
  private endPartialLine(bytes: Buffer, start: number, end: number): void {
    this.full ||= !this.partial.add(bytes, start, end)
    const line = this.full ? null : this.partial.bytes()
    if (line === null) {
      this.full = true
      return
    }
    this.line(line, 0, this.partial.length)
    if (this.dataLines > 0 && this.dataBytes === line) this.holdData()
    this.partial.clear()
  }

  private keepPartial(bytes: Buffer, start: number, end: number): void {
    if (this.unread) return
    const { partial } = this
    let from = start
    if (partial.length < longestStart) {
      from = Math.min(end, start + longestStart - partial.length)
      this.full ||= !partial.add(bytes, start, from)
      if (partial.length === longestStart && !this.full) {
        // From here on it is clear whether the line is worth keeping.
        const first = partial.bytes()!
        this.unread = !isData(first, this.atStart && isByteOrderMark(first, 0) ? 3 : 0)
        if (this.unread) {
          partial.clear()
          return
        }
      }
    }
    this.full ||= !partial.add(bytes, from, end)
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
    if (!isData(bytes, from)) return
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
    if (this.dataBytes !== null) this.holdData()
    this.full ||= !(this.held.add(lineFeed, 0, 1) && this.held.add(bytes, start, end))
    this.dataEnd = this.held.length
    this.dataLines++
  }

  /** Moves the data of the unfinished event into memory of our own. */
  private holdData(): void {
    this.full ||= !this.held.add(this.dataBytes!, this.dataStart, this.dataEnd)
    this.dataBytes = null
    this.dataStart = 0
    this.dataEnd = this.held.length
  }

  private dispatch(): void {
    if (this.dataLines === 0) return
    const bytes = this.dataBytes ?? this.held.bytes()
    const { dataStart, dataEnd } = this
    this.dataLines = 0
    this.dataBytes = null
    this.dataStart = 0
    this.dataEnd = 0
    if (bytes === null) this.full = true
    else if (!this.full) this.sink.onEvent(bytes, dataStart, dataEnd)
    this.held.clear()
  }
}

const lineFeed = Buffer.from([LF])
/** Of a line: a mark of the order of bytes, and the name `data`. */
const longestStart = 7

function isData(bytes: Buffer, at: number): boolean {
  return bytes[at] === 100 && bytes[at + 1] === 97 && bytes[at + 2] === 116 && bytes[at + 3] === 97
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
