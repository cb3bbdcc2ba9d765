import { isUtf8 } from 'node:buffer'
import { type Span, setSpan } from '../bytes/span.ts'
import { isNoReason } from './document-values.ts'
import { DocumentWalk } from './document-walk.ts'
import { uses } from './document-words.ts'
import { numberValue, stringValue } from './json.ts'
import { JsonShape, type ShapeFacts, wantedCells } from './json-shape.ts'
import { isSame, KnownShapes } from './known-shapes.ts'

/**
 * Reads what metrics and rules need from one JSON document of a response: by its shape if that is known,
 * else by a walk over its grammar. Each class adds one task to the one before:
 *
 *     JsonScanner      reads strings, numbers and literals
 *     JsonCursor       checks the grammar of lists and objects, and notes values that may vary
 *     DocumentFacts    what a document says
 *     DocumentValues   keeps what a string or a number says
 *     DocumentWalk     finds which value stands where
 *     DocumentReader   reads a document of a known shape without a walk, and learns new shapes
 *
 * One reader serves a whole thread: results are valid until the next `read`, spans as long as the bytes.
 */
export class DocumentReader extends DocumentWalk implements ShapeFacts {
  private readonly shapes = new KnownShapes<JsonShape>()
  /** The bytes of the last `read`; spans point into them. */
  source: Buffer = Buffer.alloc(0)

  /** @returns whether `bytes[start..end)` is one JSON document in UTF-8 */
  read(bytes: Buffer, start: number, end: number): boolean {
    this.source = bytes
    this.look(bytes)
    if (this.readByShape(start, end)) {
      if (this.notAscii) this.badUtf8 = !isUtf8(bytes.subarray(start, end))
      return !this.badUtf8
    }
    this.clear()
    const isJson = this.document(bytes, start, end)
    if (!isJson || this.notAscii) this.badUtf8 = !isUtf8(bytes.subarray(start, end))
    if (!isJson || this.badUtf8) return false
    if (this.isObject && this.unknown.start < 0) this.learn(bytes, start, end)
    return true
  }

  /** Reads a document of one of the known shapes. @returns false if it has none of them */
  private readByShape(start: number, end: number): boolean {
    const { list } = this.shapes
    for (let at = 0; at < list.length; at++) {
      const shape = list[at]!
      this.clear()
      if (!this.readAs(shape, start, end)) continue
      this.shapes.met(at)
      this.takeFacts(shape.facts)
      return true
    }
    return false
  }

  /** What the shape says, in addition to what its values said. */
  private takeFacts(facts: ShapeFacts): void {
    this.isObject = true
    this.choices = facts.choices
    this.blocks = facts.blocks
    this.maxIndex = facts.maxIndex
    this.choiceBits = facts.choiceBits
    this.endedBits = facts.endedBits
    this.hasThought = facts.hasThought
    // Only documents of one choice are learnt.
    if (this.hasText) this.textBits = facts.choiceBits
    this.hasError ||= facts.hasErrorMember
    this.errorIsObject = facts.errorIsObject
    this.isErrorKind = facts.isErrorKind
    this.complains = facts.complains
    this.semantic = facts.semantic
    this.passes = facts.passes
  }

  /** Learns the shape of the last document. */
  private learn(bytes: Buffer, start: number, end: number): void {
    // Values do not say whose they are, so a document of several choices is walked each time.
    if ((this.choiceBits & (this.choiceBits - 1)) !== 0) return
    if (this.hasObjectText || end - start > maxKnownBytes || this.valuesEnd > this.values.length)
      return
    if (!this.shapes.pay()) return
    const values = this.values.slice(0, this.valuesEnd)
    const shape = new JsonShape(bytes, start, end, values, this, mayBeCompared)
    if (!this.shapes.list.some((known) => known.adapt(shape))) this.shapes.add(shape)
  }

  /** Reads a document of a known shape: constant parts are compared, varying values parsed. False if it has another shape. */
  private readAs(shape: JsonShape, start: number, end: number): boolean {
    const { view, wanted } = shape
    const bytes = this.view
    this.end = end
    this.notAscii = false
    let from = 0
    // Offset of the document from that of the shape; each longer value shifts the rest.
    let shift = start
    for (let cell = 0; cell < wanted.length; cell += wantedCells) {
      const valueStart = wanted[cell]!
      const use = wanted[cell + 2]!
      if (wanted[cell + 3] === 0) {
        this.keepCompared(use, valueStart + shift, wanted[cell + 1]! + shift)
        continue
      }
      if (!isSame(view, from, valueStart, bytes, from + shift, end)) return false
      this.at = valueStart + shift
      if (!this.readValue(use)) return false
      from = wanted[cell + 1]!
      shift = this.at - from
    }
    return (
      end - shift === view.byteLength &&
      isSame(view, from, view.byteLength, bytes, from + shift, end)
    )
  }

  /** Keeps the span of a string that is the same in all documents of a shape; it is given with its quotes. */
  private keepCompared(use: number, start: number, end: number): void {
    setSpan(this.comparedSpan(use), start + 1, end - 1, false)
    if (use === uses.otherFinish) this.noteOtherEnd()
  }

  private comparedSpan(use: number): Span {
    switch (use) {
      case uses.model:
        return this.model
      case uses.type:
        return this.type
      case uses.finish:
        return this.finish
      default:
        return this.otherFinish
    }
  }

  private readValue(use: number): boolean {
    switch (use) {
      case stringValue:
        return this.scanString()
      case numberValue:
        return this.scanNumber()
      case uses.text:
      case uses.reasoning:
      case uses.summary:
        if (!this.scanString()) return false
        this.keepLastText(use)
        return true
      case uses.unknown:
        // One that says something is named by the walk.
        return this.scanString() && this.stringEnd === this.stringStart
      case uses.id:
        return this.readString(this.id)
      case uses.model:
        return this.readString(this.model)
      case uses.type:
        return this.readString(this.type)
      case uses.finish:
        return this.readReason(this.finish)
      case uses.otherFinish:
        if (!this.readReason(this.otherFinish)) return false
        this.noteOtherEnd()
        return true
      case uses.errorCode:
      case uses.otherCode:
        return this.readErrorValue(this.errorCode, use)
      case uses.errorType:
        return this.readErrorValue(this.errorType, use)
      case uses.errorMessage:
      case uses.otherMessage:
        return this.readErrorValue(this.errorMessage, use)
      case uses.errorText:
        return this.readErrorValue(null, use)
      default:
        if (!this.scanNumber()) return false
        this.keepLastCount(use)
        return true
    }
  }

  private readString(into: Span): boolean {
    if (!this.scanString()) return false
    this.keepLastString(into)
    return true
  }

  /** A reason that is none belongs to another shape. */
  private readReason(into: Span): boolean {
    return this.readString(into) && !isNoReason(this.bytes, into.start, into.end)
  }

  private readErrorValue(into: Span | null, use: number): boolean {
    const start = this.at
    const isString = this.atString()
    if (!(isString ? this.scanString() : this.scanNumber())) return false
    this.keepLastErrorValue(into, use, start, isString)
    return true
  }
}

const BACKSLASH = 92
/** Longer documents are not worth a copy. */
const maxKnownBytes = 4096

/** Whether a value may be compared by its bytes instead of parsed; counts and texts are always parsed. */
function mayBeCompared(value: Uint8Array, use: number): boolean {
  switch (use) {
    case stringValue:
    case numberValue:
      return true
    case uses.model:
    case uses.type:
    case uses.finish:
    case uses.otherFinish:
      return !value.includes(BACKSLASH)
    default:
      return false
  }
}
