import { JsonScanner } from './json-scanner.ts'

/** Characters. An imported constant would be read from memory each time, which takes a third longer. */
const CLOSE_LIST = 93
const CLOSE_OBJECT = 125
const COLON = 58
const COMMA = 44
const CR = 13
const LF = 10
const LOWER_F = 102
const LOWER_N = 110
const LOWER_T = 116
const OPEN_LIST = 91
const OPEN_OBJECT = 123
const QUOTE = 34
const SPACE = 32
const TAB = 9

/** Deeper nesting is rejected, because the reader is recursive. */
const maxDepth = 256
const maxValues = 64

/** Uses of values that nobody needs. */
export const stringValue = 0
export const numberValue = 1

/**
 * Walks over JSON (RFC 8259) in bytes and checks its whole grammar without strings or objects
 * (`bench/json-reader.ts` compares it with `JSON.parse`). A subclass reads the members that it needs.
 *
 * Strings and numbers that may differ in the next document of the same shape (`json-shape.ts`) are noted, with the use that the reader
 * has for them: `noteString` and `noteNumber`. A value that is only scanned is part of the shape, such as the name of a member.
 */
export class JsonCursor extends JsonScanner {
  /** Values so far that may differ in the next document of the same shape, three cells each: start, end and use. */
  protected readonly values = new Int32Array(3 * maxValues)
  /** Filled cells of `values`; more than its length if there was no room. */
  protected valuesEnd = 0
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

  /** Reads the outermost value. */
  protected root(): boolean {
    return this.skip()
  }

  protected skip(): boolean {
    switch (this.peek()) {
      case QUOTE:
        return this.noteString(stringValue)
      case OPEN_OBJECT:
        return this.object(0)
      case OPEN_LIST:
        return this.array(0)
      case LOWER_T:
        return this.literal('true')
      case LOWER_F:
        return this.literal('false')
      case LOWER_N:
        return this.literal('null')
      default:
        return this.noteNumber(numberValue)
    }
  }

  protected noteString(use: number): boolean {
    const start = this.at
    if (!this.scanString()) return false
    this.noteValue(start, use)
    return true
  }

  protected noteNumber(use: number): boolean {
    const start = this.at
    if (!this.scanNumber()) return false
    this.noteValue(start, use)
    return true
  }

  /** Notes that the value from `start` to the cursor has this use. */
  protected noteValue(start: number, use: number): void {
    const { values, valuesEnd } = this
    if (valuesEnd < values.length) {
      values[valuesEnd] = start
      values[valuesEnd + 1] = this.at
      values[valuesEnd + 2] = use
    }
    this.valuesEnd = valuesEnd + 3
  }

  /** Gives another use to those of the values since the cell `from` that have the use `before`. */
  protected changeUse(from: number, before: number, after: number): void {
    const { values } = this
    const end = Math.min(this.valuesEnd, values.length)
    for (let cell = from + 2; cell < end; cell += 3) {
      if (values[cell] === before) values[cell] = after
    }
  }

  /** @param kind passed to `member`; 0 for an object that is skipped */
  protected object(kind: number): boolean {
    const { bytes, end } = this
    if (!this.atObject() || !this.enter()) return false
    let at = blank(bytes, this.at + 1, end)
    if (at < end && bytes[at] === CLOSE_OBJECT) return this.close(at)
    for (;;) {
      this.at = at
      if (!this.scanString()) return false
      const keyStart = this.stringStart
      const keyEnd = this.stringEnd
      at = blank(bytes, this.at, end)
      if (at >= end || bytes[at] !== COLON) return false
      this.at = blank(bytes, at + 1, end)
      if (!(kind === 0 ? this.skip() : this.member(kind, keyStart, keyEnd))) return false
      at = blank(bytes, this.at, end)
      if (at >= end) return false
      if (bytes[at] === CLOSE_OBJECT) return this.close(at)
      if (bytes[at] !== COMMA) return false
      at = blank(bytes, at + 1, end)
    }
  }

  /** @param kind passed to `element`; 0 for an array that is skipped */
  protected array(kind: number): boolean {
    const { bytes, end } = this
    if (!this.atList() || !this.enter()) return false
    let at = blank(bytes, this.at + 1, end)
    if (at < end && bytes[at] === CLOSE_LIST) return this.close(at)
    for (let index = 0; ; index++) {
      this.at = at
      if (!(kind === 0 ? this.skip() : this.element(kind, index))) return false
      at = blank(bytes, this.at, end)
      if (at >= end) return false
      if (bytes[at] === CLOSE_LIST) return this.close(at)
      if (bytes[at] !== COMMA) return false
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

/** Index of the next byte that is not white space; most JSON on the wire has none. */
function blank(bytes: Uint8Array, from: number, end: number): number {
  let at = from
  while (at < end) {
    const byte = bytes[at]!
    if (byte > SPACE || (byte !== SPACE && byte !== LF && byte !== CR && byte !== TAB)) return at
    at++
  }
  return at
}
