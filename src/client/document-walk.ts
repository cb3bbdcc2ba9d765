import {
  CHOICE,
  CONTENT,
  DETAILS,
  EMBEDDING,
  ERROR,
  name,
  names,
  RESPONSE,
  ROOT,
  TOOL_CALLS,
  USAGE,
  uses,
} from './document-words.ts'
import { JsonCursor } from './json.ts'
import { isWord, type Span, span } from './span.ts'

const unfinished = ['"queued"', '"in_progress"'].map((word) => Buffer.from(word))

/**
 * Walks over one document of a response and keeps what metrics and rules need. A document is a body of
 * any format, one event of a stream, or an error. The formats share most names without contradiction, so
 * one walk serves all.
 */
export class DocumentWalk extends JsonCursor {
  isObject = false
  /** Whether some bytes are not UTF-8. */
  badUtf8 = false
  readonly id = span()
  readonly model = span()
  readonly type = span()
  readonly finish = span()
  /** Elements of `choices`; -1 without such an array. */
  choices = -1
  /** Elements of `content`, `output` or `data`; 0 if it is not an array, -1 if absent. */
  blocks = -1
  /** Largest `index` of a choice, or of a content block; -1 for none. */
  maxIndex = -1
  /** Whether it has non-empty text: content, reasoning, or a tool call. */
  hasText = false
  hasReasoning = false
  hasToolCall = false
  /** Tokens of usage; NaN if absent. */
  promptTokens = Number.NaN
  cachedTokens = Number.NaN
  completionTokens = Number.NaN
  totalTokens = Number.NaN
  hasError = false
  errorIsObject = false
  readonly errorCode = span()
  readonly errorType = span()
  private choiceIndex = 0

  protected clear(): void {
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
    this.cachedTokens = Number.NaN
    this.completionTokens = Number.NaN
    this.totalTokens = Number.NaN
    this.hasError = false
    this.errorIsObject = false
    this.errorCode.start = -1
    this.errorType.start = -1
    this.choiceIndex = 0
  }

  /** Records the use of the last value. */
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
      case RESPONSE:
        // Earlier events had its output.
        return key === name.output ? this.skip() : this.rootMember(key)
      case CHOICE:
        return this.choiceMember(key)
      case CONTENT:
        return this.contentMember(key)
      case USAGE:
        return this.usageMember(key)
      case DETAILS:
        return key === name.cached_tokens && this.isNumberNext()
          ? this.keepTokens(uses.cachedTokens)
          : this.skip()
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
    return kind !== EMBEDDING && this.peek() === 123 ? this.object(kind) : this.skip()
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
      case name.response:
        return this.peek() === 123 ? this.object(RESPONSE) : this.skip()
      case name.delta:
        // In the Responses format, delta is the text itself.
        return this.peek() === 123 ? this.object(CONTENT) : this.text()
      case name.content_block:
        return this.peek() === 123 ? this.object(CONTENT) : this.skip()
      case name.output:
        this.blocks = 0
        return this.peek() === 91 ? this.array(CONTENT) : this.skip()
      case name.data:
        if (this.peek() !== 91) return this.skip()
        this.blocks = 0
        return this.array(EMBEDDING)
      case name.status:
        return this.finish.start >= 0 || this.isUnfinishedNext()
          ? this.skip()
          : this.keepString(this.finish, uses.finish)
      case name.usage:
        return this.peek() === 123 ? this.object(USAGE) : this.skip()
      case name.index:
        return this.keepIndex()
      case name.error:
        // `error: null` with a completion is not an error.
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
        // An element counts as text; arguments arrive in pieces, each an element.
        return this.peek() === 91 ? this.array(TOOL_CALLS) : this.skip()
      case name.stop_reason:
        return this.keepString(this.finish, uses.finish)
      default:
        return this.skip()
    }
  }

  private usageMember(key: number): boolean {
    if (key === name.prompt_tokens_details || key === name.input_tokens_details) {
      return this.peek() === 123 ? this.object(DETAILS) : this.skip()
    }
    if (!this.isNumberNext()) return this.skip()
    switch (key) {
      case name.prompt_tokens:
      case name.input_tokens:
        return this.keepTokens(uses.promptTokens)
      case name.completion_tokens:
      case name.output_tokens:
        return this.keepTokens(uses.completionTokens)
      case name.cache_read_input_tokens:
        return this.keepTokens(uses.cachedTokens)
      case name.total_tokens:
        return this.keepTokens(uses.totalTokens)
      default:
        return this.skip()
    }
  }

  protected keepTokens(use: number): boolean {
    if (!this.number()) return false
    this.use(use)
    if (use === uses.promptTokens) this.promptTokens = this.lastNumber
    else if (use === uses.completionTokens) this.completionTokens = this.lastNumber
    else if (use === uses.cachedTokens) this.cachedTokens = this.lastNumber
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

  protected reasoning(): boolean {
    if (this.peek() !== 34) return this.skip()
    if (!this.string()) return false
    this.use(uses.reasoning)
    if (this.stringEnd > this.stringStart) {
      this.hasText = true
      this.hasReasoning = true
    }
    return true
  }

  /** Whether the next value is a status that is not an end. */
  private isUnfinishedNext(): boolean {
    const { bytes, at } = this
    return unfinished.some((word) => isWord(bytes, at, at + word.length, word))
  }

  private keepIndex(): boolean {
    if (!this.isNumberNext()) return this.skip()
    // An index is part of the shape, because it decides which choice is the first.
    if (!this.scanNumber()) return false
    this.maxIndex = Math.max(this.maxIndex, this.lastNumber)
    return true
  }

  protected keepString(into: Span, use: number): boolean {
    if (this.peek() !== 34) return this.skip()
    if (!this.string()) return false
    this.use(use)
    into.start = this.stringStart
    into.end = this.stringEnd
    into.escaped = this.stringEscaped
    return true
  }

  protected isNumberNext(): boolean {
    const byte = this.peek()
    return byte === 45 || (byte >= 48 && byte <= 57)
  }
}
