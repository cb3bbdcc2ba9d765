import { isUtf8 } from 'node:buffer'
import { JsonCursor, numberValue, stringValue } from './json.ts'
import { JsonShape, type ShapeFacts, valueCells } from './json-shape.ts'
import { isSame, KnownShapes } from './known-shapes.ts'
import {
  CHOICE,
  CONTENT,
  ERROR,
  name,
  names,
  ROOT,
  TOOL_CALLS,
  USAGE,
  uses,
} from './reply-words.ts'
import { type Span, span } from './span.ts'

/**
 * Reads what metrics and rules need out of one JSON document of a reply: a whole body of either
 * format, one event of either stream, or an error of either shape. The two formats share most of
 * their names and never contradict each other, so one walk serves them all.
 *
 * One reader serves a whole thread: results hold until the next `read`, spans while the bytes do.
 */
export class ReplyReader extends JsonCursor implements ShapeFacts {
  /** Whether the document was an object. */
  isObject = false
  /** Bytes outside ASCII that are not UTF-8. */
  badUtf8 = false
  readonly id = span()
  readonly model = span()
  readonly type = span()
  readonly finish = span()
  /** Elements of `choices`; -1 when there was no such array. */
  choices = -1
  /** Elements of `content`; 0 when it was no array; -1 when there was none. */
  blocks = -1
  /** Largest `index` of a choice, or of a content block; -1 for none. */
  maxIndex = -1
  /** Non-empty text: content, reasoning, or a tool call. */
  hasText = false
  hasReasoning = false
  hasToolCall = false
  /** NaN where usage does not say. */
  promptTokens = Number.NaN
  completionTokens = Number.NaN
  totalTokens = Number.NaN
  hasError = false
  errorIsObject = false
  readonly errorCode = span()
  readonly errorType = span()
  private choiceIndex = 0
  private readonly shapes = new KnownShapes<JsonShape>()
  /** The bytes that were read last; spans point into them. */
  source: Buffer = Buffer.alloc(0)

  /** @returns whether `bytes[start..end)` is one JSON document in UTF-8 */
  read(bytes: Buffer, start: number, end: number): boolean {
    this.source = bytes
    this.look(bytes)
    const { list } = this.shapes
    for (let at = 0; at < list.length; at++) {
      const shape = list[at]!
      this.clear()
      if (!this.readAs(shape, start, end)) continue
      this.shapes.met(at)
      const { facts } = shape
      this.isObject = true
      this.choices = facts.choices
      this.blocks = facts.blocks
      this.maxIndex = facts.maxIndex
      this.hasToolCall = facts.hasToolCall
      this.hasText ||= facts.hasToolCall
      this.hasError = facts.hasError
      this.errorIsObject = facts.errorIsObject
      if (this.notAscii) this.badUtf8 = !isUtf8(bytes.subarray(start, end))
      return !this.badUtf8
    }
    this.clear()
    if (!this.document(bytes, start, end)) {
      this.badUtf8 = !isUtf8(bytes.subarray(start, end))
      return false
    }
    if (this.notAscii) this.badUtf8 = !isUtf8(bytes.subarray(start, end))
    if (this.badUtf8) return false
    if (this.isObject) this.learn(bytes, start, end)
    return true
  }

  private clear(): void {
    this.isObject = false
    this.badUtf8 = false
    this.id.start = -1
    this.model.start = -1
    this.type.start = -1
    this.finish.start = -1
    this.choices = -1
    this.blocks = -1
    this.maxIndex = -1
    this.hasText = false
    this.hasReasoning = false
    this.hasToolCall = false
    this.promptTokens = Number.NaN
    this.completionTokens = Number.NaN
    this.totalTokens = Number.NaN
    this.hasError = false
    this.errorIsObject = false
    this.errorCode.start = -1
    this.errorType.start = -1
    this.choiceIndex = 0
  }

  /** Learns the document that was read last. */
  private learn(bytes: Buffer, start: number, end: number): void {
    if (end - start > maxKnownBytes || this.valuesEnd > this.values.length) return
    if (!this.shapes.pay()) return
    const values = this.values.slice(0, this.valuesEnd)
    const shape = new JsonShape(bytes, start, end, values, this, mayBeCompared)
    if (!this.shapes.list.some((known) => known.adapt(shape))) this.shapes.add(shape)
  }

  /**
   * Reads a document of a known shape: what does not vary is compared, the rest is read by its own
   * grammar. A document that differs is none of this shape, and is read from the beginning.
   */
  private readAs(shape: JsonShape, start: number, end: number): boolean {
    const { view, values, varies } = shape
    const bytes = this.view
    this.end = end
    this.notAscii = false
    let from = 0
    // How far the document lies behind the shape's own; each value that is longer moves the rest.
    let shift = start
    for (let value = 0, cell = 0; value < varies.length; value++, cell += valueCells) {
      const valueStart = values[cell]!
      const use = values[cell + 2]!
      if (varies[value] === 0) {
        if (use > numberValue) this.keepCompared(use, valueStart + shift, values[cell + 1]! + shift)
        continue
      }
      if (!isSame(view, from, valueStart, bytes, from + shift, end)) return false
      this.at = valueStart + shift
      if (!this.readValue(use)) return false
      from = values[cell + 1]!
      shift = this.at - from
    }
    return (
      end - shift === view.byteLength &&
      isSame(view, from, view.byteLength, bytes, from + shift, end)
    )
  }

  /** A string that is the same in all documents of a shape, where it lies in this one. */
  private keepCompared(use: number, start: number, end: number): void {
    const into =
      use === uses.model
        ? this.model
        : use === uses.type
          ? this.type
          : use === uses.finish
            ? this.finish
            : use === uses.errorCode
              ? this.errorCode
              : this.errorType
    into.start = start + 1
    into.end = end - 1
    into.escaped = false
  }

  /** Reads a value for what it is for. */
  private readValue(use: number): boolean {
    switch (use) {
      case stringValue:
        return this.scanString()
      case numberValue:
        return this.scanNumber()
      case uses.text:
        if (!this.scanString()) return false
        this.hasText ||= this.stringEnd > this.stringStart
        return true
      case uses.reasoning:
        return this.peek() === 34 && this.reasoning()
      case uses.id:
        return this.peek() === 34 && this.keepString(this.id, use)
      case uses.model:
        return this.peek() === 34 && this.keepString(this.model, use)
      case uses.type:
        return this.peek() === 34 && this.keepString(this.type, use)
      case uses.finish:
        return this.peek() === 34 && this.keepString(this.finish, use)
      case uses.errorCode:
        return this.peek() === 34 && this.keepString(this.errorCode, use)
      case uses.errorType:
        return this.peek() === 34 && this.keepString(this.errorType, use)
      default:
        return this.isNumberNext() && this.keepTokens(use)
    }
  }

  /** Says what the last value is for. */
  private use(use: number): void {
    if (this.valuesEnd <= this.values.length) this.values[this.valuesEnd - 1] = use
  }

  protected override root(): boolean {
    if (this.peek() !== 123) return this.skip()
    this.isObject = true
    return this.object(ROOT)
  }

  protected override member(kind: number, keyStart: number, keyEnd: number): boolean {
    const key = names.find(this.bytes, keyStart, keyEnd)
    if (key === 0) return this.skip()
    switch (kind) {
      case ROOT:
        return this.rootMember(key)
      case CHOICE:
        return this.choiceMember(key)
      case CONTENT:
        return this.contentMember(key)
      case USAGE:
        return this.usageMember(key)
      default:
        return this.errorMember(key)
    }
  }

  protected override element(kind: number, index: number): boolean {
    if (kind === TOOL_CALLS) {
      this.hasText = true
      this.hasToolCall = true
      return this.skip()
    }
    if (kind === CHOICE) {
      this.choices = index + 1
      this.choiceIndex = index
    } else this.blocks = index + 1
    return this.peek() === 123 ? this.object(kind) : this.skip()
  }

  private rootMember(key: number): boolean {
    switch (key) {
      case name.id:
        return this.keepString(this.id, uses.id)
      case name.model:
        return this.keepString(this.model, uses.model)
      case name.type:
        return this.keepString(this.type, uses.type)
      case name.stop_reason:
        return this.keepString(this.finish, uses.finish)
      case name.choices:
        if (this.peek() !== 91) return this.skip()
        this.choices = 0
        return this.array(CHOICE)
      case name.content:
        this.blocks = 0
        return this.text()
      case name.message:
        // The messages stream begins with a whole message inside its first event.
        return this.peek() === 123 ? this.object(ROOT) : this.skip()
      case name.delta:
      case name.content_block:
        return this.peek() === 123 ? this.object(CONTENT) : this.skip()
      case name.usage:
        return this.peek() === 123 ? this.object(USAGE) : this.skip()
      case name.index:
        return this.keepIndex()
      case name.error:
        // `error: null` beside a completion is no error.
        this.hasError ||= this.peek() !== 110
        this.errorIsObject = this.peek() === 123
        return this.errorIsObject ? this.object(ERROR) : this.skip()
      default:
        return this.skip()
    }
  }

  private choiceMember(key: number): boolean {
    switch (key) {
      case name.index:
        if (!this.keepIndex()) return false
        this.choiceIndex = this.lastNumber
        return true
      case name.message:
      case name.delta:
        return this.peek() === 123 ? this.object(CONTENT) : this.skip()
      case name.finish_reason:
        return this.choiceIndex === 0 ? this.keepString(this.finish, uses.finish) : this.skip()
      case name.usage:
        return this.peek() === 123 ? this.object(USAGE) : this.skip()
      case name.text:
        return this.text()
      default:
        return this.skip()
    }
  }

  private contentMember(key: number): boolean {
    switch (key) {
      case name.content:
      case name.text:
      case name.partial_json:
      case name.refusal:
      case name.name:
        return this.text()
      case name.reasoning:
      case name.reasoning_content:
      case name.thinking:
        return this.reasoning()
      case name.tool_calls:
        // An element is counted as text; the arguments come in pieces, each an element.
        return this.peek() === 91 ? this.array(TOOL_CALLS) : this.skip()
      case name.stop_reason:
        return this.keepString(this.finish, uses.finish)
      default:
        return this.skip()
    }
  }

  private usageMember(key: number): boolean {
    if (!this.isNumberNext()) return this.skip()
    switch (key) {
      case name.prompt_tokens:
      case name.input_tokens:
        return this.keepTokens(uses.promptTokens)
      case name.completion_tokens:
      case name.output_tokens:
        return this.keepTokens(uses.completionTokens)
      case name.total_tokens:
        return this.keepTokens(uses.totalTokens)
      default:
        return this.skip()
    }
  }

  private keepTokens(use: number): boolean {
    if (!this.number()) return false
    this.use(use)
    if (use === uses.promptTokens) this.promptTokens = this.lastNumber
    else if (use === uses.completionTokens) this.completionTokens = this.lastNumber
    else this.totalTokens = this.lastNumber
    return true
  }

  private errorMember(key: number): boolean {
    if (key === name.code) return this.keepString(this.errorCode, uses.errorCode)
    return key === name.type ? this.keepString(this.errorType, uses.errorType) : this.skip()
  }

  /** A string, or an array of content blocks. */
  private text(): boolean {
    if (this.peek() === 91) return this.array(CONTENT)
    if (this.peek() !== 34) return this.skip()
    if (!this.string()) return false
    this.use(uses.text)
    this.hasText ||= this.stringEnd > this.stringStart
    return true
  }

  private reasoning(): boolean {
    if (this.peek() !== 34) return this.skip()
    if (!this.string()) return false
    this.use(uses.reasoning)
    if (this.stringEnd > this.stringStart) {
      this.hasText = true
      this.hasReasoning = true
    }
    return true
  }

  private keepIndex(): boolean {
    if (!this.isNumberNext()) return this.skip()
    // Part of the shape: it decides which choice is the first.
    if (!this.scanNumber()) return false
    this.maxIndex = Math.max(this.maxIndex, this.lastNumber)
    return true
  }

  private keepString(into: Span, use: number): boolean {
    if (this.peek() !== 34) return this.skip()
    if (!this.string()) return false
    this.use(use)
    into.start = this.stringStart
    into.end = this.stringEnd
    into.escaped = this.stringEscaped
    return true
  }

  private isNumberNext(): boolean {
    const byte = this.peek()
    return byte === 45 || (byte >= 48 && byte <= 57)
  }
}

/** Longer documents are not worth their copies. */
const maxKnownBytes = 4096

/** Whether a value, with its quotes, is known by its bytes: numbers and texts are read each time. */
function mayBeCompared(value: Uint8Array, use: number): boolean {
  switch (use) {
    case stringValue:
    case numberValue:
      return true
    case uses.model:
    case uses.type:
    case uses.finish:
    case uses.errorCode:
    case uses.errorType:
      return !value.includes(92)
    default:
      return false
  }
}
