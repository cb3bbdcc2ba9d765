import { ByteNames } from '../../bytes/byte-names.ts'
import { isSame, KnownShapes } from '../../document/known-shapes.ts'
import type { HeaderLines } from '../transport.ts'
import { KnownHead } from './known-head.ts'

/** Bytes of the blank line at the end of a head. */
export const headEnd = 2

const CR = 13
const LF = 10
const COLON = 58

/** 1 for the bytes of a header's name (RFC 9110, 5.6.2). */
export const isToken = new Uint8Array(256)
for (const character of "!#$%&'*+-.^_`|~0123456789") isToken[character.charCodeAt(0)] = 1
for (let letter = 0; letter < 26; letter++) {
  isToken[65 + letter] = 1
  isToken[97 + letter] = 1
}

/** 1 for the bytes of a header's value: no control characters except the tab. */
export const isValue = new Uint8Array(256).fill(1, 32)
isValue[9] = 1
isValue[127] = 0

export type BodyKind = 'none' | 'length' | 'chunked' | 'until-close'

/**
 * Reads the head of a response in one pass, and keeps only what framing needs. It rejects what could make two readers disagree
 * about its end: bare LF, blanks before the colon, folded lines, a repeated length, or a length with `Transfer-Encoding`. One
 * object serves a transport; its fields are those of the last head.
 */
export class ResponseFraming implements HeaderLines {
  status = 0
  /** Lines of the head, and where each is: the starts of its name and of its colon, and its end. */
  count = 0
  /** Number of the known head that this one is like; 0 if it is like none. */
  shape = 0
  varying: readonly number[] = []
  offsets = new Int32Array(3 * 64)
  private start = 0
  /** Start of the header lines, after the status line. */
  linesStart = 0
  /** End of the head, including the blank line. */
  end = 0
  keepAlive = false
  keepAliveTimeoutS = Number.NaN
  body: BodyKind = 'none'
  contentLength = 0
  private hasLength = false
  private hasCoding = false
  private chunked = false
  private saysClose = false
  private saysKeepAlive = false
  private readonly known = new KnownShapes<KnownHead>()
  private readonly readBuffer: Buffer
  private readonly view: DataView

  /** @param readBuffer contains all heads, except those that arrive in pieces */
  constructor(readBuffer: Buffer) {
    this.readBuffer = readBuffer
    this.view = new DataView(readBuffer.buffer, readBuffer.byteOffset, readBuffer.length)
  }

  /** Reads the head at `bytes[start..]`. */
  read(bytes: Buffer, start: number, end: number): 'read' | 'incomplete' | 'protocol' {
    if (bytes !== this.readBuffer) return this.readLines(bytes, start, end)
    const { list } = this.known
    for (let at = 0; at < list.length; at++) {
      if (!this.readAs(list[at]!, bytes, start, end)) continue
      this.known.met(at)
      return 'read'
    }
    const result = this.readLines(bytes, start, end)
    if (result === 'read' && this.known.pay()) {
      if (!list.some((known) => known.adapt(this, bytes, start)))
        this.known.add(new KnownHead(this, bytes, start))
    }
    return result
  }

  /**
   * Reads a head of a known shape, and locates only its varying lines; false if more differs.
   *
   *     same bytes | value | same bytes | value | same bytes
   *     from..value         from..value          from..end      in the known head
   *
   * A line is three numbers of `lines`: its begin, the place of its colon, and its end. `shift` is how far a place of the known head
   * lies further here. `locate` finds the other lines, if somebody asks.
   */
  private readAs(known: KnownHead, bytes: Buffer, start: number, end: number): boolean {
    const { lines, varying, lengthLine } = known
    const { view } = this
    while (this.offsets.length < lines.length) this.moreLines()
    const { offsets } = this
    this.hasLength = false
    this.contentLength = known.contentLength
    let from = 0
    let shift = start
    for (let index = 0; index < varying.length; index++) {
      const line = varying[index]!
      const value = lines[line + 1]! + 1
      if (!isSame(known.view, from, value, view, from + shift, end)) return false
      const at = valueEndBy8(view, bytes, value + shift, end)
      if (line === lengthLine && !this.length(bytes, value + shift, at)) return false
      offsets[line + 1] = value + shift - 1
      offsets[line + 2] = at
      from = lines[line + 2]!
      shift = at - from
    }
    if (!isSame(known.view, from, known.bytes.length, view, from + shift, end)) return false
    this.shape = known.shape
    this.varying = varying
    this.count = lines.length / 3
    this.start = start
    this.linesStart = known.linesStart + start
    this.end = known.bytes.length + shift
    this.status = known.status
    this.keepAlive = known.keepAlive
    this.keepAliveTimeoutS = known.keepAliveTimeoutS
    this.body = known.body
    return true
  }

  /** Reads where each line is, if only the varying lines of a known head were located. */
  locate(): void {
    const { shape } = this
    if (shape === 0) return
    this.readLines(this.readBuffer, this.start, this.end)
    this.shape = shape
  }

  private readLines(bytes: Buffer, start: number, end: number): 'read' | 'incomplete' | 'protocol' {
    this.shape = 0
    const lines = this.statusLine(bytes, start, end)
    if (lines === -1) return 'incomplete'
    if (lines === -2) return 'protocol'
    this.linesStart = lines
    this.hasLength = false
    this.hasCoding = false
    this.chunked = false
    this.saysClose = false
    this.saysKeepAlive = false
    this.contentLength = 0
    this.keepAliveTimeoutS = Number.NaN
    let { offsets } = this
    let place = 0
    let at = lines
    for (;;) {
      if (at >= end) return 'incomplete'
      if (bytes[at] === CR) {
        if (at + 1 >= end) return 'incomplete'
        if (bytes[at + 1] !== LF) return 'protocol'
        this.end = at + 2
        this.count = place / 3
        return this.decide(bytes[start + 7] === 49) ? 'read' : 'protocol'
      }
      const name = at
      while (at < end && isToken[bytes[at]!] === 1) at++
      if (at >= end) return 'incomplete'
      if (at === name || bytes[at] !== COLON) return 'protocol'
      const colon = at
      at = valueEnd(bytes, colon + 1, end)
      if (at + 1 >= end) return at < end && bytes[at] !== CR ? 'protocol' : 'incomplete'
      if (bytes[at] !== CR || bytes[at + 1] !== LF) return 'protocol'
      if (!this.field(bytes, name, colon, at)) return 'protocol'
      if (place === offsets.length) offsets = this.moreLines()
      offsets[place] = name
      offsets[place + 1] = colon
      offsets[place + 2] = at
      place += 3
      at += 2
    }
  }

  /** @returns start of the header lines; -1 if bytes are missing, -2 if it is not HTTP/1.x */
  private statusLine(bytes: Buffer, start: number, end: number): number {
    // HTTP/1.1 200 OK
    const known = Math.min(end - start, 7)
    for (let at = 0; at < known; at++) {
      if (bytes[start + at] !== version[at]) return -2
    }
    if (end - start < 13) return plausibleStart(bytes, start, end) ? -1 : -2
    if (!plausibleStart(bytes, start, start + 12)) return -2
    this.status =
      (bytes[start + 9]! - 48) * 100 + (bytes[start + 10]! - 48) * 10 + (bytes[start + 11]! - 48)
    if (this.status < 100) return -2
    let at = start + 12
    if (bytes[at] !== CR && bytes[at] !== 32) return -2
    while (at < end && isValue[bytes[at]!] === 1) at++
    if (at + 1 >= end) return at < end && bytes[at] !== CR ? -2 : -1
    return bytes[at] === CR && bytes[at + 1] === LF ? at + 2 : -2
  }

  private moreLines(): Int32Array<ArrayBuffer> {
    const more = new Int32Array(this.offsets.length * 2)
    more.set(this.offsets)
    this.offsets = more
    return more
  }

  /** Reads a field that matters for framing. @returns false if it breaks the framing */
  private field(bytes: Buffer, name: number, colon: number, end: number): boolean {
    switch (colon - name) {
      case 10:
        if (isName(bytes, name, 'connection')) this.connection(bytes, colon + 1, end)
        else if (isName(bytes, name, 'keep-alive')) {
          const stated = /timeout=(\d+)/i.exec(bytes.toString('latin1', colon + 1, end))
          this.keepAliveTimeoutS = stated === null ? Number.NaN : Number(stated[1])
        }
        return true
      case 14:
        return !isName(bytes, name, 'content-length') || this.length(bytes, colon + 1, end)
      case 17:
        if (isName(bytes, name, 'transfer-encoding')) {
          this.hasCoding = true
          // Only the last coding frames the body.
          const codings = bytes
            .toString('latin1', colon + 1, end)
            .toLowerCase()
            .split(',')
          this.chunked = codings.at(-1)?.trim() === 'chunked'
        }
        return true
      default:
        return true
    }
  }

  private connection(bytes: Buffer, start: number, end: number): void {
    let at = start
    while (at < end && bytes[at] === 32) at++
    // The common value is compared as bytes; others need a string.
    if (options.find(bytes, at, end) === 1) this.saysKeepAlive = true
    else {
      for (const option of bytes.toString('latin1', at, end).toLowerCase().split(',')) {
        if (option.trim() === 'close') this.saysClose = true
        else if (option.trim() === 'keep-alive') this.saysKeepAlive = true
      }
    }
  }

  /** Reads Content-Length. @returns false for anything but one whole number */
  private length(bytes: Buffer, start: number, to: number): boolean {
    let at = start
    let end = to
    while (at < end && (bytes[at] === 32 || bytes[at] === 9)) at++
    while (end > at && (bytes[end - 1] === 32 || bytes[end - 1] === 9)) end--
    // Fifteen digits stay exact in a double.
    if (this.hasLength || at === end || end - at > 15) return false
    let value = 0
    for (; at < end; at++) {
      const byte = bytes[at]!
      if (byte < 48 || byte > 57) return false
      value = value * 10 + byte - 48
    }
    this.hasLength = true
    this.contentLength = value
    return true
  }

  /** Decides where the body ends (RFC 9112, 6.3), and whether the connection is reused (9.3). */
  private decide(http11: boolean): boolean {
    this.keepAlive = !this.saysClose && (http11 || this.saysKeepAlive)
    if (this.hasCoding && this.hasLength) return false
    if (this.status < 200 || this.status === 204 || this.status === 304) this.body = 'none'
    else if (this.hasCoding) this.body = this.chunked ? 'chunked' : 'until-close'
    else this.body = this.hasLength ? 'length' : 'until-close'
    return true
  }
}

const version = Buffer.from('HTTP/1.')
const options = new ByteNames({ 'keep-alive': 1 })

function valueEnd(bytes: Buffer, start: number, end: number): number {
  let at = start
  while (at < end && isValue[bytes[at]!] === 1) at++
  return at
}

/** The same, eight bytes at a time while none of them is a control character. */
function valueEndBy8(view: DataView, bytes: Buffer, start: number, end: number): number {
  let at = start
  while (
    at < end - 7 &&
    ((stops(view.getInt32(at, true)) | stops(view.getInt32(at + 4, true))) & 0x80808080) === 0
  ) {
    at += 8
  }
  return valueEnd(bytes, at, end)
}

/** Sets the high bit of each byte that is a control character; bytes above one may be marked too. */
function stops(four: number): number {
  const del = four ^ 0x7f7f7f7f
  return ((four - 0x20202020) & ~four) | ((del - 0x01010101) & ~del)
}

/** Whether `bytes[start..end)` can be the beginning of a status line such as `HTTP/1.1 200`. */
function plausibleStart(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start + 7; at < end; at++) {
    const byte = bytes[at]!
    const place = at - start
    if (place === 7 && byte !== 48 && byte !== 49) return false
    if (place === 8 && byte !== 32) return false
    if (place > 8 && place < 12 && (byte < 48 || byte > 57)) return false
  }
  return true
}

function isName(bytes: Buffer, start: number, name: string): boolean {
  for (let at = 0; at < name.length; at++) {
    if ((bytes[start + at]! | 32) !== name.charCodeAt(at)) return false
  }
  return true
}
