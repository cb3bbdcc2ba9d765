import { hexDigit } from '../../bytes/hex.ts'
import { maxHeadBytes } from '../limits.ts'
import type { FailureCode, WireSink } from '../transport.ts'
import { afterByte, type ExtensionState, mayEnd } from './chunk-extension.ts'
import { headEnd, isToken, isValue, type ResponseFraming } from './response-framing.ts'

/** Result of `read`: `more` bytes are needed, the response is `done`, or it failed. */
export type ParseResult = 'more' | 'done' | Extract<FailureCode, 'protocol' | 'too-large'>

/** Receives the parts of a response as offsets, never as strings or slices. */
export type ParserSink = Pick<WireSink, 'onHead' | 'onBody'>

type State =
  | 'head'
  /** `left` bytes of the body are missing. */
  | 'length'
  | 'until-close'
  | 'chunk-size'
  | 'chunk-data'
  | 'chunk-end'
  | 'trailer'
  | 'done'

const CR = 13
const LF = 10
const maxChunkLineBytes = 4096
/** A split head is parsed again at each read while it is small, so that garbage is detected early. */
const smallHeadBytes = 4096

/**
 * Parses HTTP/1.1 responses (RFC 9112), one after another, from bytes cut anywhere.
 *
 *     head ─┬─▶ length ───────────────────────────────┬─▶ done
 *           ├─▶ until-close ── eof ───────────────────┤
 *           ├─▶ chunk-size ─▶ chunk-data ─▶ chunk-end │
 *           │        ▲  └─ 0 ─▶ trailer ──────────────┤
 *           │        └──────────────┘                 │
 *           └─▶ (204, 304, length 0) ─────────────────┘       1xx ─▶ head
 *
 * `onBody` is called at most once for each read: chunks are joined in place, so time stamps are those of
 * socket reads, not of a server's chunks. A head within one read is parsed in place; only a split head is
 * copied.
 */
export class ResponseParser {
  /** End of the finished response in the bytes of the last `read`. */
  position = 0
  private state: State = 'head'
  private lineBytes = 0
  /** Missing bytes of the body or the chunk. */
  private left = 0
  /** Set when a sink aborts during a callback; it must not be called again. */
  private stopped = false
  /** Whether the connection may carry another request after this response. */
  keepAlive = false
  /** Timeout of `Keep-Alive` in seconds; NaN if absent. */
  keepAliveTimeoutS = Number.NaN
  private readonly framing: ResponseFraming
  /** Beginning of a head that is split between reads. */
  private carry: Buffer | null = null
  private carried = 0
  private digits = 0
  private afterCr = false
  private extension: ExtensionState = 'none'
  /** After the colon of a trailer field. */
  private inValue = false

  /** @param framing shared by all parsers of a transport */
  constructor(framing: ResponseFraming) {
    this.framing = framing
  }

  reset(): void {
    this.state = 'head'
    this.carry = null
    this.carried = 0
    this.stopped = false
  }

  /** Stops from inside a callback: the sink is not called again. */
  stop(): void {
    this.stopped = true
  }

  /** Reads `bytes[start..end)`; chunks of a body are joined in place. */
  read(bytes: Buffer, start: number, end: number, sink: ParserSink): ParseResult {
    this.position = start
    while (this.state === 'head') {
      const result = this.readHead(bytes, end, sink)
      if (result !== null) return result
      if (this.stopped) return 'more'
    }
    switch (this.state) {
      case 'length':
        return this.readLength(bytes, end, sink)
      case 'until-close':
        if (this.position < end) sink.onBody(bytes, this.position, end)
        this.position = end
        return 'more'
      case 'done':
        return 'done'
      default:
        return this.readChunks(bytes, end, sink)
    }
  }

  /** The peer closed its side; only a body without a length may end this way. */
  eof(): 'done' | 'closed-early' {
    if (this.state === 'until-close') {
      this.state = 'done'
      return 'done'
    }
    return 'closed-early'
  }

  /** @returns null when a head was read and the next state is set */
  private readHead(bytes: Buffer, end: number, sink: ParserSink): ParseResult | null {
    if (this.position >= end) return 'more'
    let head = bytes
    let start = this.position
    let to = end
    if (this.carry !== null) {
      const had = this.carried
      this.keep(bytes, this.position, end)
      head = this.carry
      start = 0
      to = this.carried
      if (to > smallHeadBytes && head.indexOf('\r\n\r\n', Math.max(0, had - 3), 'latin1') === -1) {
        this.position = end
        return to > maxHeadBytes ? 'too-large' : 'more'
      }
    }
    const result = this.framing.read(head, start, to)
    if (result === 'incomplete') {
      if (to - start > maxHeadBytes) return 'too-large'
      if (this.carry === null) this.keep(bytes, start, end)
      this.position = end
      return 'more'
    }
    if (result === 'protocol') return 'protocol'
    const { framing } = this
    if (framing.end - start > maxHeadBytes) return 'too-large'
    // The rest of the read follows the head.
    this.position = end - (to - framing.end)
    if (framing.status < 200) {
      // An interim response; 101 would switch to a protocol that was not requested.
      this.carry = null
      this.carried = 0
      return framing.status === 101 ? 'protocol' : null
    }
    this.keepAlive = framing.keepAlive
    this.keepAliveTimeoutS = framing.keepAliveTimeoutS
    this.enterBody()
    sink.onHead(framing.status, head, framing.linesStart, framing.end - headEnd, framing)
    this.carry = null
    this.carried = 0
    return null
  }

  private enterBody(): void {
    switch (this.framing.body) {
      case 'none':
        this.state = 'done'
        return
      case 'length':
        this.left = this.framing.contentLength
        this.state = this.left === 0 ? 'done' : 'length'
        return
      case 'chunked':
        this.beginChunkLine('chunk-size')
        return
      case 'until-close':
        this.keepAlive = false
        this.state = 'until-close'
    }
  }

  private readLength(bytes: Buffer, end: number, sink: ParserSink): ParseResult {
    const from = this.position
    const taken = Math.min(this.left, end - from)
    this.left -= taken
    this.position = from + taken
    if (this.left === 0) this.state = 'done'
    if (taken > 0) sink.onBody(bytes, from, this.position)
    return this.left === 0 ? 'done' : 'more'
  }

  private readChunks(bytes: Buffer, end: number, sink: ParserSink): ParseResult {
    let at = this.position
    let dataStart = at
    let dataEnd = at
    let failure: ParseResult | null = null
    while (at < end && this.state !== 'done' && failure === null) {
      let taken = 0
      let behind = 0
      if (this.state === 'chunk-size' && this.lineBytes === 0) {
        taken = sizeOfWhole(bytes, at, end)
        if (taken > 0) {
          at = sizeLineEnd
          behind = headEnd
        }
      } else if (this.state === 'chunk-data') {
        taken = Math.min(this.left, end - at)
        this.left -= taken
        if (this.left === 0) this.beginChunkLine('chunk-end')
      }
      if (taken === 0) {
        failure = this.chunkByte(bytes[at++]!)
        continue
      }
      if (dataEnd === dataStart) dataStart = dataEnd = at
      else if (dataEnd !== at) bytes.copyWithin(dataEnd, at, at + taken)
      dataEnd += taken
      at += taken + behind
    }
    this.position = at
    if (dataEnd > dataStart) sink.onBody(bytes, dataStart, dataEnd)
    if (failure !== null) return failure
    return this.state === ('done' as State) ? 'done' : 'more'
  }

  private beginChunkLine(state: State): void {
    this.state = state
    this.left = 0
    this.lineBytes = 0
    this.digits = 0
    this.afterCr = false
    this.extension = 'none'
    this.inValue = false
  }

  /** Reads a byte between the data of chunks. */
  private chunkByte(byte: number): ParseResult | null {
    if (++this.lineBytes > maxChunkLineBytes) return 'too-large'
    if (this.afterCr) {
      if (byte !== LF) return 'protocol'
      this.afterCr = false
      return this.endChunkLine()
    }
    if (byte === CR) {
      if (!mayEnd(this.extension)) return 'protocol'
      this.afterCr = true
      return null
    }
    if (this.state === 'chunk-end') return 'protocol'
    if (this.state === 'trailer') {
      this.digits++
      if (this.inValue) return isValue[byte] === 1 ? null : 'protocol'
      this.inValue = byte === 58 && this.digits > 1
      return this.inValue || isToken[byte] === 1 ? null : 'protocol'
    }
    const digit = this.extension === 'none' ? hexDigit(byte) : -1
    if (digit >= 0) {
      // Thirteen digits stay exact in a double, and no chunk is that long.
      if (++this.digits > 13) return 'protocol'
      this.left = this.left * 16 + digit
      return null
    }
    const extension = this.digits === 0 ? null : afterByte(this.extension, byte)
    if (extension === null) return 'protocol'
    this.extension = extension
    return null
  }

  private endChunkLine(): ParseResult | null {
    switch (this.state) {
      case 'chunk-end':
        this.beginChunkLine('chunk-size')
        return null
      case 'chunk-size': {
        if (this.digits === 0) return 'protocol'
        const size = this.left
        this.beginChunkLine(size === 0 ? 'trailer' : 'chunk-data')
        this.left = size
        return null
      }
      default:
        // A trailer field, which is ignored, or the blank line that ends the body.
        if (this.digits === 0) this.state = 'done'
        else if (!this.inValue) return 'protocol'
        this.digits = 0
        this.inValue = false
        return null
    }
  }

  private keep(bytes: Buffer, start: number, end: number): void {
    const length = this.carried + end - start
    if (this.carry === null || this.carry.length < length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(1024, length * 2))
      this.carry?.copy(larger, 0, 0, this.carried)
      this.carry = larger
    }
    bytes.copy(this.carry, this.carried, start, end)
    this.carried = length
  }
}

/** Start of the data of the chunk that `sizeOfWhole` found. */
let sizeLineEnd = 0

/** The size of a chunk that is whole in `bytes[at..end)`, as nearly all are; 0 for any other. */
function sizeOfWhole(bytes: Buffer, at: number, end: number): number {
  const lastDigit = at + 7
  let size = 0
  let place = at
  for (; place < lastDigit && place < end; place++) {
    const digit = hexDigit(bytes[place]!)
    if (digit < 0) break
    size = size * 16 + digit
  }
  const from = place + 2
  const to = from + size
  if (place === at || to + 2 > end) return 0
  if (bytes[place] !== CR || bytes[place + 1] !== LF) return 0
  if (bytes[to] !== CR || bytes[to + 1] !== LF) return 0
  sizeLineEnd = from
  return size
}
