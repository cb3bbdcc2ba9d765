import { hexDigit } from '../bytes/hex.ts'

const QUOTE = 34
const BACKSLASH = 92
/** Deeper nesting is rejected, because the reader is recursive. */
const maxDepth = 256
const maxValues = 64

/** Uses of values that are only skipped. */
export const stringValue = 0
export const numberValue = 1

const STOP = 1
const NOT_ASCII = 128

/** Kind of each byte in a string: STOP ends a plain run (controls, `"`, `\`), NOT_ASCII, or 0. */
const inString = new Uint8Array(256)
inString.fill(STOP, 0, 32)
inString[QUOTE] = STOP
inString[BACKSLASH] = STOP
inString.fill(NOT_ASCII, 128)

/** 1 for the bytes that may follow a backslash, except `u`. */
const isEscape = new Uint8Array(256)
for (const character of '"\\/bfnrt') isEscape[character.charCodeAt(0)] = 1

/**
 * Walks over JSON (RFC 8259) in bytes and checks its whole grammar without strings or objects
 * (`bench/json-reader.ts` compares it with `JSON.parse`). A subclass reads the members that it needs.
 *
 * Each method starts at a value's first byte. It returns false if the grammar is broken; otherwise `at`
 * is after the value.
 */
export class JsonCursor {
  protected bytes: Uint8Array = new Uint8Array(0)
  /** A view of the same bytes. */
  protected view: DataView = new DataView(new ArrayBuffer(0))
  protected at = 0
  protected end = 0
  /**
   * The values so far that may differ in the next document of the same shape, three cells each: start,
   * end and use.
   */
  protected readonly values = new Int32Array(3 * maxValues)
  /** Filled cells of `values`; more than its length if there was no room. */
  protected valuesEnd = 0
  /** The last string, without its quotes. */
  protected stringStart = 0
  protected stringEnd = 0
  protected stringEscaped = false
  /** The last number if it is whole; else where its text is, which is read only if somebody asks. */
  private wholeNumber = 0
  private fractionStart = -1
  /** Whether a string has bytes that are not ASCII. */
  protected notAscii = false
  /** Whether the last document was rejected for its nesting, which the grammar allows. */
  tooDeep = false
  private depth = 0

  /** Checks that `bytes[start..end)` is one JSON value and nothing else. */
  protected document(bytes: Uint8Array, start: number, end: number): boolean {
    this.look(bytes)
    this.at = blank(bytes, start, end)
    this.end = end
    this.notAscii = false
    this.valuesEnd = 0
    this.depth = 0
    this.tooDeep = false
    return this.root() && blank(bytes, this.at, end) === end
  }

  /** Sets the bytes to read; most calls pass a transport's only read buffer. */
  protected look(bytes: Uint8Array): void {
    if (this.bytes === bytes) return
    this.bytes = bytes
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  /** Reads the outermost value. */
  protected root(): boolean {
    return this.skip()
  }

  /** The byte at the cursor, 0 at the end. */
  protected peek(): number {
    return this.at < this.end ? this.bytes[this.at]! : 0
  }

  /** Any value. */
  protected skip(): boolean {
    switch (this.peek()) {
      case QUOTE:
        return this.string()
      case 123:
        return this.object(0)
      case 91:
        return this.array(0)
      case 116:
        return this.literal('true')
      case 102:
        return this.literal('false')
      case 110:
        return this.literal('null')
      default:
        return this.number()
    }
  }

  protected literal(word: string): boolean {
    if (this.at + word.length > this.end) return false
    for (let at = 0; at < word.length; at++) {
      if (this.bytes[this.at + at] !== word.charCodeAt(at)) return false
    }
    this.at += word.length
    return true
  }

  protected string(): boolean {
    const start = this.at
    if (!this.scanString()) return false
    this.noteValue(start, stringValue)
    return true
  }

  protected number(): boolean {
    const start = this.at
    if (!this.scanNumber()) return false
    this.noteValue(start, numberValue)
    return true
  }

  private noteValue(start: number, kind: number): void {
    const { values, valuesEnd } = this
    if (valuesEnd < values.length) {
      values[valuesEnd] = start
      values[valuesEnd + 1] = this.at
      values[valuesEnd + 2] = kind
    }
    this.valuesEnd = valuesEnd + 3
  }

  /** Reads a string that is part of the shape, such as a name. */
  protected scanString(): boolean {
    const { bytes, end } = this
    let at = this.at
    if (at >= end || bytes[at] !== QUOTE) return false
    at++
    this.stringStart = at
    this.stringEscaped = false
    const { view } = this
    const end8 = end - 7
    let seen = 0
    let high = 0
    for (;;) {
      // Eight bytes at a time, while none of them ends a plain run.
      while (at < end8) {
        const one = view.getInt32(at, true)
        const two = view.getInt32(at + 4, true)
        if (((stops(one) | stops(two)) & highBits) !== 0) break
        high |= one | two
        at += 8
      }
      let kind = 0
      while (at < end) {
        kind = inString[bytes[at]!]!
        if (kind === STOP) break
        seen |= kind
        at++
      }
      if (at >= end) return false
      const byte = bytes[at]!
      if (byte === QUOTE) break
      if (byte !== BACKSLASH) return false
      this.stringEscaped = true
      const next = at + 1 < end ? bytes[at + 1]! : 0
      if (isEscape[next] === 1) at += 2
      else if (next === 117 && at + 6 <= end && this.fourHex(at + 2)) at += 6
      else return false
    }
    if (seen !== 0 || (high & highBits) !== 0) this.notAscii = true
    this.stringEnd = at
    this.at = at + 1
    return true
  }

  private fourHex(at: number): boolean {
    for (let index = at; index < at + 4; index++) {
      if (hexDigit(this.bytes[index]!) < 0) return false
    }
    return true
  }

  /** Reads a number that is part of the shape. */
  protected scanNumber(): boolean {
    const { bytes, end } = this
    const start = this.at
    let at = start
    if (at < end && bytes[at] === 45) at++
    const digits = at
    let value = 0
    while (at < end && isDigit(bytes[at]!)) value = value * 10 + bytes[at++]! - 48
    if (at === digits || (bytes[digits] === 48 && at > digits + 1)) return false
    let whole = true
    if (at < end && bytes[at] === 46) {
      const fraction = ++at
      while (at < end && isDigit(bytes[at]!)) at++
      if (at === fraction) return false
      whole = false
    }
    if (at < end && (bytes[at]! | 32) === 101) {
      at++
      if (at < end && (bytes[at] === 43 || bytes[at] === 45)) at++
      const exponent = at
      while (at < end && isDigit(bytes[at]!)) at++
      if (at === exponent) return false
      whole = false
    }
    this.at = at
    this.wholeNumber = digits > start ? -value : value
    this.fractionStart = whole ? -1 : start
    return true
  }

  /** The number that was just scanned; exact if it is a whole number below 2^53. */
  protected lastNumber(): number {
    const { bytes, fractionStart, at } = this
    return fractionStart < 0 ? this.wholeNumber : numberIn(bytes, fractionStart, at)
  }

  /** @param kind passed to `member`; 0 for an object that is skipped */
  protected object(kind: number): boolean {
    const { bytes, end } = this
    if (this.peek() !== 123 || !this.enter()) return false
    let at = blank(bytes, this.at + 1, end)
    if (at < end && bytes[at] === 125) return this.close(at)
    for (;;) {
      this.at = at
      if (!this.scanString()) return false
      const keyStart = this.stringStart
      const keyEnd = this.stringEnd
      at = blank(bytes, this.at, end)
      if (at >= end || bytes[at] !== 58) return false
      this.at = blank(bytes, at + 1, end)
      if (!(kind === 0 ? this.skip() : this.member(kind, keyStart, keyEnd))) return false
      at = blank(bytes, this.at, end)
      if (at >= end) return false
      if (bytes[at] === 125) return this.close(at)
      if (bytes[at] !== 44) return false
      at = blank(bytes, at + 1, end)
    }
  }

  /** @param kind passed to `element`; 0 for an array that is skipped */
  protected array(kind: number): boolean {
    const { bytes, end } = this
    if (this.peek() !== 91 || !this.enter()) return false
    let at = blank(bytes, this.at + 1, end)
    if (at < end && bytes[at] === 93) return this.close(at)
    for (let index = 0; ; index++) {
      this.at = at
      if (!(kind === 0 ? this.skip() : this.element(kind, index))) return false
      at = blank(bytes, this.at, end)
      if (at >= end) return false
      if (bytes[at] === 93) return this.close(at)
      if (bytes[at] !== 44) return false
      at = blank(bytes, at + 1, end)
    }
  }

  private enter(): boolean {
    this.tooDeep = ++this.depth > maxDepth
    return !this.tooDeep
  }

  private close(at: number): boolean {
    this.at = at + 1
    this.depth--
    return true
  }

  /** Reads the value of a member whose name is `bytes[keyStart..keyEnd)`, with its escapes. */
  protected member(_kind: number, _keyStart: number, _keyEnd: number): boolean {
    return this.skip()
  }

  protected element(_kind: number, _index: number): boolean {
    return this.skip()
  }
}

const highBits = 0x80808080 | 0

/**
 * Sets the high bit of each byte that is a quote, a backslash or a control character; bytes above one may
 * be marked too (Warren, Hacker's Delight, 6-1). With its second bit flipped, a quote follows the control
 * characters.
 */
function stops(four: number): number {
  const turned = four ^ 0x02020202
  const backslash = four ^ 0x5c5c5c5c
  return ((turned - 0x21212121) & ~turned) | ((backslash - 0x01010101) & ~backslash)
}

/** Index of the next byte that is not white space; most JSON on the wire has none. */
function blank(bytes: Uint8Array, from: number, end: number): number {
  let at = from
  while (at < end) {
    const byte = bytes[at]!
    if (byte > 32 || (byte !== 32 && byte !== 10 && byte !== 13 && byte !== 9)) return at
    at++
  }
  return at
}

function numberIn(bytes: Uint8Array, start: number, end: number): number {
  return Number(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1'))
}

function isDigit(byte: number): boolean {
  return byte >= 48 && byte <= 57
}
