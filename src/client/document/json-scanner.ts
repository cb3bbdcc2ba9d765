import { hexDigit } from '../bytes/hex.ts'

/** Characters. An imported constant would be read from memory each time, which takes a third longer. */
const BACKSLASH = 92
const DOT = 46
const LOWER_E = 101
const LOWER_T = 116
const LOWER_U = 117
const MINUS = 45
const NINE = 57
const OPEN_LIST = 91
const OPEN_OBJECT = 123
const PLUS = 43
const QUOTE = 34
/** This bit makes a letter small. */
const SMALL = 32
const ZERO = 48

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
 * Reads strings, numbers and literals of JSON (RFC 8259) in bytes, and checks their grammar without making strings. Each method
 * starts at a value's first byte and ends with `at` after it, or returns false.
 */
export class JsonScanner {
  protected bytes: Uint8Array = new Uint8Array(0)
  /** A view of the same bytes. */
  protected view: DataView = new DataView(new ArrayBuffer(0))
  protected at = 0
  protected end = 0
  /** The last string, without its quotes. */
  protected stringStart = 0
  protected stringEnd = 0
  protected stringEscaped = false
  /** The last number if it is whole; else where its text is, which is read only if somebody asks. */
  private wholeNumber = 0
  private fractionStart = -1
  /** Whether a string has bytes that are not ASCII. */
  protected notAscii = false

  /** Sets the bytes to read; most calls pass a transport's only read buffer. */
  protected look(bytes: Uint8Array): void {
    if (this.bytes === bytes) return
    this.bytes = bytes
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  /** The byte at the cursor, 0 at the end. */
  protected peek(): number {
    return this.at < this.end ? this.bytes[this.at]! : 0
  }

  protected atString(): boolean {
    return this.peek() === QUOTE
  }

  protected atObject(): boolean {
    return this.peek() === OPEN_OBJECT
  }

  protected atList(): boolean {
    return this.peek() === OPEN_LIST
  }

  protected atNumber(): boolean {
    const byte = this.peek()
    return byte === MINUS || isDigit(byte)
  }

  protected atTrue(): boolean {
    return this.peek() === LOWER_T
  }

  /** Whether the value from `start` to the cursor is a string, a list or an object with something in it. */
  protected isFilled(start: number): boolean {
    const first = this.bytes[start]
    return this.at - start > 2 && (first === QUOTE || first === OPEN_LIST || first === OPEN_OBJECT)
  }

  protected literal(word: string): boolean {
    if (this.at + word.length > this.end) return false
    for (let at = 0; at < word.length; at++) {
      if (this.bytes[this.at + at] !== word.charCodeAt(at)) return false
    }
    this.at += word.length
    return true
  }

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
      else if (next === LOWER_U && at + 6 <= end && this.fourHex(at + 2)) at += 6
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

  protected scanNumber(): boolean {
    const { bytes, end } = this
    const start = this.at
    let at = start
    if (at < end && bytes[at] === MINUS) at++
    const digits = at
    let value = 0
    while (at < end && isDigit(bytes[at]!)) value = value * 10 + bytes[at++]! - ZERO
    if (at === digits || (bytes[digits] === ZERO && at > digits + 1)) return false
    let whole = true
    if (at < end && bytes[at] === DOT) {
      const fraction = ++at
      while (at < end && isDigit(bytes[at]!)) at++
      if (at === fraction) return false
      whole = false
    }
    if (at < end && (bytes[at]! | SMALL) === LOWER_E) {
      at++
      if (at < end && (bytes[at] === PLUS || bytes[at] === MINUS)) at++
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
}

const highBits = 0x80808080 | 0

/**
 * Sets the high bit of each byte that is a quote, a backslash or a control character; bytes above one may be marked too (Warren,
 * Hacker's Delight, 6-1). With its second bit flipped, a quote follows the control characters.
 */
function stops(four: number): number {
  const turned = four ^ 0x02020202
  const backslash = four ^ 0x5c5c5c5c
  return ((turned - 0x21212121) & ~turned) | ((backslash - 0x01010101) & ~backslash)
}

const numberIn = (bytes: Uint8Array, start: number, end: number): number =>
  Number(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1'))

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= NINE
