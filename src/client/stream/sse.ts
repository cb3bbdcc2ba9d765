import { viewOf } from '../../attempt/bytes.ts'
import type { Unheld } from '../../attempt/outcome.ts'
import { HeldBytes } from '../bytes/held-bytes.ts'
import type { ResponseMemory } from '../bytes/memory.ts'
import { isWord } from '../bytes/span.ts'

const LF = 10
const CR = 13
const COLON = 58
const SPACE = 32
/** `{` */
const OPEN = 123
/** `data: `, the start of nearly all lines: its first four bytes and its last two, as numbers. */
const DATA = 0x61746164
const COLON_SPACE = 0x203a

/** Receives events. The bytes are valid during the call only. */
export interface SseSink {
  /** One event with a `data` line: `bytes[start..end)` is its data, lines joined by LF. */
  onEvent(bytes: Buffer, start: number, end: number): void
  /** The same for an event that is named as an error; its data may be empty. */
  onErrorEvent?(bytes: Buffer, start: number, end: number): void
  /** A line `bytes[start..end)` in which some services send an error: a field `error`, or JSON as a comment or without a field. */
  onStray?(bytes: Buffer, start: number, end: number, isErrorField: boolean): void
}

/**
 * Decodes server-sent events (WHATWG HTML, 9.2.6) from bytes, without I/O or strings.
 *
 *     feed ─▶ lines (LF, CR, CRLF; cut anywhere) ─▶ fields ─▶ blank line ─▶ onEvent
 *
 * A whole event with one data line is passed on in place, without a copy. At the end of a read, the
 * partial line and the data of an unfinished event are copied. Copied bytes are not scanned again, so an
 * event cut at every byte costs no more than its copy. A line without data is not kept, however long.
 */
export class SseDecoder {
  /** Bytes of unfinished lines and events; 0 after a complete stream. */
  get pendingBytes(): number {
    return this.partial.length + (this.dataLines > 0 ? this.dataEnd - this.dataStart + 1 : 0)
  }

  private readonly sink: SseSink
  /** Whether the last read ended between two events: nothing of the next one has come, not even a name. */
  private between = false
  private readonly maxEventBytes: number
  private readonly partial: HeldBytes
  /** Whether the partial line is not a `data` line, so it is skipped. */
  private unread = false
  /** Bytes with the data of the current event, a read or a line; null after it was copied to `held`. */
  private dataBytes: Buffer | null = null
  private dataStart = 0
  private dataEnd = 0
  private dataLines = 0
  /** Whether the current event is named as an error. */
  private namedError = false
  private readonly held: HeldBytes
  /** Whether there was no memory for an unfinished event. */
  private full = false
  private afterCr = false
  private atStart = true

  /** @param maxEventBytes a longer line or event ends the decoding */
  constructor(sink: SseSink, memory: ResponseMemory, maxEventBytes = 16 * 1024 * 1024) {
    this.sink = sink
    this.maxEventBytes = maxEventBytes
    this.partial = new HeldBytes(memory)
    this.held = new HeldBytes(memory)
  }

  /** Returns to the start of a stream, and frees memory. */
  reset(): void {
    this.partial.drop()
    this.held.drop()
    this.unread = false
    this.full = false
    this.dataBytes = null
    this.dataLines = 0
    this.namedError = false
    this.dataStart = 0
    this.dataEnd = 0
    this.afterCr = false
    this.atStart = true
    this.between = false
  }

  /** Returns why nothing more may be fed (an event is too long, or no memory for it), else null. */
  feed(bytes: Buffer, start: number, end: number): Unheld | null {
    const from = this.between ? this.wholeEvents(bytes, start, end) : start
    if (from === end) return null
    this.lines(bytes, from, end)
    if (this.full) return 'no-memory'
    return this.pendingBytes > this.maxEventBytes ? 'too-large' : null
  }

  /** The body has ended. A whole event without its blank line counts, as official clients read it. */
  end(): void {
    if (this.full) return
    if (this.partial.length > 0) this.endPartialLine(lineFeed, 0, 0)
    this.dispatch()
  }

  /** Passes on events of one line `data: …` and a blank line. @returns start of the first other line */
  private wholeEvents(bytes: Buffer, start: number, end: number): number {
    const view = viewOf(bytes)
    let from = start
    // The shortest such event has eight bytes.
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
    const isOpen = this.pendingBytes > 0 || this.unread || this.namedError
    this.between = !isOpen && !this.afterCr && !this.atStart
  }

  private endUnreadLine(): void {
    this.unread = false
    this.atStart = false
  }

  /** Joins and reads a line that began in an earlier read; its data is copied before the join is reused. */
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
        // The start of the line now shows whether it is read.
        const first = partial.bytes()!
        this.unread = !isRead(first, this.atStart && isByteOrderMark(first, 0) ? 3 : 0)
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
    // Only `data` and errors matter: the JSON has the type of an event, and comments, ids and retry times mean
    // nothing to a reader that never reconnects.
    if (!isData(bytes, from)) {
      this.otherLine(bytes, from, end)
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

  /** A line without data, of which only errors matter. */
  private otherLine(bytes: Buffer, start: number, end: number): void {
    const first = bytes[start]
    if (first === OPEN) this.sink.onStray?.(bytes, start, end, false)
    else if (first === COLON) {
      const at = bytes[start + 1] === SPACE ? start + 2 : start + 1
      if (at < end && bytes[at] === OPEN) this.sink.onStray?.(bytes, at, end, false)
    } else if (isNamed(bytes, start, end, eventField)) {
      const at = bytes[start + 6] === SPACE ? start + 7 : start + 6
      this.namedError = errorNames.some((name) => isWord(bytes, at, end, name))
    } else if (isNamed(bytes, start, end, errorField)) {
      this.sink.onStray?.(bytes, bytes[start + 6] === SPACE ? start + 7 : start + 6, end, true)
    }
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

  /** Copies the data of the unfinished event. */
  private holdData(): void {
    this.full ||= !this.held.add(this.dataBytes!, this.dataStart, this.dataEnd)
    this.dataBytes = null
    this.dataStart = 0
    this.dataEnd = this.held.length
  }

  private dispatch(): void {
    const { namedError } = this
    this.namedError = false
    if (this.dataLines === 0) {
      if (namedError) this.sink.onErrorEvent?.(lineFeed, 0, 0)
      return
    }
    const bytes = this.dataBytes ?? this.held.bytes()
    const { dataStart, dataEnd } = this
    this.dataLines = 0
    this.dataBytes = null
    this.dataStart = 0
    this.dataEnd = 0
    if (bytes === null) this.full = true
    else if (!this.full) this.pass(bytes, dataStart, dataEnd, namedError)
    this.held.clear()
  }

  private pass(bytes: Buffer, start: number, end: number, isError: boolean): void {
    const { sink } = this
    if (isError && sink.onErrorEvent !== undefined) sink.onErrorEvent(bytes, start, end)
    else sink.onEvent(bytes, start, end)
  }
}

const lineFeed = Buffer.from([LF])
const eventField = Buffer.from('event:')
const errorField = Buffer.from('error:')
/** Names of events that are errors. */
const errorNames = ['error', 'Error', 'ERROR', 'exception'].map((name) => Buffer.from(name))
/** Bytes that decide the kind of a line: a byte order mark and `data`. */
const longestStart = 7

/** Whether a line that begins so is kept until its end; other fields and comments may be endless. */
function isRead(bytes: Buffer, at: number): boolean {
  if (isData(bytes, at) || bytes[at] === OPEN) return true
  if (bytes[at] === COLON) return (bytes[at + 1] === SPACE ? bytes[at + 2] : bytes[at + 1]) === OPEN
  // `event` and `error`
  return bytes[at] === 101 && (bytes[at + 1] === 118 || bytes[at + 1] === 114)
}

const isNamed = (bytes: Buffer, start: number, end: number, field: Buffer): boolean =>
  end - start >= field.length && isWord(bytes, start, start + field.length, field)

const isData = (bytes: Buffer, at: number): boolean =>
  bytes[at] === 100 && bytes[at + 1] === 97 && bytes[at + 2] === 116 && bytes[at + 3] === 97

const isByteOrderMark = (bytes: Buffer, at: number): boolean =>
  bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf

/** End of the line that begins at `from`: a LF or CR before `end`, else `end`. */
function lineEnd(bytes: Buffer, view: DataView, from: number, end: number): number {
  let at = from
  for (;;) {
    // Eight bytes at a time while none is a control character (Warren, Hacker's Delight, 6-1).
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
