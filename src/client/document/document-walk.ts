import { isWord, type Span, span, spanBegins, words } from '../bytes/span.ts'
import { DocumentFacts, mostCounts } from './document-facts.ts'
import {
  countsFrom,
  heldBy,
  holds,
  names,
  objects,
  usageObjectsFrom,
  uses,
} from './document-words.ts'
import { isFailure } from './finish-reasons.ts'
import { stringValue } from './json.ts'
import { semantics } from './usage-counts.ts'

/** Values of `finish_reason`, which some services send in every chunk, and of `status` that are no end. */
const noReasons = words('', 'null', 'queued', 'in_progress')
const errorWord = Buffer.from('error')
/** Begins the type of a part whose text is reasoning. */
const thoughtTypes = words('reasoning', 'thinking', 'redacted_thinking', 'summary')
const semanticWords = words(...semantics)
/** A mask has a bit for each choice before this one. */
export const mostChoices = 31

/**
 * Walks over one document of a response and keeps what metrics and rules need. A document is a body of
 * any format, one event of a stream, or an error. `document-words.ts` says which members it reads.
 */
export class DocumentWalk extends DocumentFacts {
  private readonly choiceFinish = span()
  private readonly status = span()
  private choiceIndex = 0
  private partIsThought = false

  protected override clear(): void {
    super.clear()
    this.choiceFinish.start = -1
    this.status.start = -1
    this.choiceIndex = 0
    this.partIsThought = false
  }

  /** Records the use of the last value. */
  private use(use: number): void {
    if (this.valuesEnd <= this.values.length) this.values[this.valuesEnd - 1] = use
  }

  /** Changes the use of the values since `from`. */
  private reuse(from: number, before: number, use: number): void {
    const { values } = this
    const end = Math.min(this.valuesEnd, values.length)
    for (let cell = from + 2; cell < end; cell += 3) if (values[cell] === before) values[cell] = use
  }

  protected override root(): boolean {
    if (this.peek() === 123) {
      this.isObject = true
      if (!this.object(objects.root)) return false
      this.takeStatus()
      return true
    }
    if (this.peek() !== 91) return this.skip()
    // Some services send an error as a list of one error. Nothing else is a list.
    if (!this.array(objects.error)) return false
    this.choices = -1
    this.blocks = -1
    this.hasText = false
    return true
  }

  /** The status of a response is its end; next to `choices` it is something else. */
  private takeStatus(): void {
    if (this.status.start < 0) return
    if (this.choices >= 0 || this.finish.start >= 0) this.reuse(0, uses.status, stringValue)
    else {
      this.reuse(0, uses.status, uses.finish)
      copySpan(this.status, this.finish)
      this.ended |= 1
    }
  }

  protected override member(object: number, keyStart: number, keyEnd: number): boolean {
    const name = names.find(this.bytes, keyStart, keyEnd)
    const held = name === 0 ? holds.unknown : heldBy(object, name)
    switch (held) {
      case holds.unknown:
        if (object === objects.error) return this.errorValue(uses.errorText)
        return object === objects.delta || object === objects.part
          ? this.unknownMember(keyStart, keyEnd)
          : this.skip()
      case holds.nothing:
        return this.skip()
      case holds.id:
        return this.keepString(this.id, uses.id)
      case holds.model:
        return this.keepString(this.model, uses.model)
      case holds.type:
        return object === objects.root ? this.keepString(this.type, uses.type) : this.partType()
      case holds.kind:
        return this.keepKind()
      case holds.finish:
        return this.keepFinish(object)
      case holds.status:
        return this.keepStatus()
      case holds.index:
        return this.keepIndex()
      case holds.text:
        return this.text(object, uses.text)
      case holds.reasoning:
        return this.text(objects.thought, uses.reasoning)
      case holds.summary:
        return this.text(objects.thought, uses.summary)
      case holds.tool:
        return this.tool()
      case holds.sound:
        return this.peek() === 34 ? this.textString(uses.text) : this.skip()
      case holds.choices:
        if (this.peek() !== 91) return this.skip()
        this.choices = 0
        return this.array(objects.choice)
      case holds.blocks:
        this.blocks = 0
        return this.peek() === 91 ? this.array(objects.block) : this.text(objects.block, uses.text)
      case holds.choiceDelta:
        return this.inside(objects.delta)
      case holds.delta:
        return this.peek() === 123 ? this.object(objects.delta) : this.text(object, uses.text)
      case holds.root:
        return this.inside(objects.root)
      case holds.message:
        return this.peek() === 34 ? this.complaint() : this.inside(objects.root)
      case holds.block:
        return this.peek() === 123 ? this.part(objects.block) : this.skip()
      case holds.toolCall:
        return this.peek() === 91 ? this.array(objects.toolCall) : this.inside(objects.toolCall)
      case holds.call:
        return this.inside(objects.call)
      case holds.audio:
        return this.inside(objects.audio)
      case holds.image:
        if (this.peek() === 34) return this.textString(uses.text)
        return this.peek() === 91 ? this.array(objects.image) : this.inside(objects.image)
      case holds.error:
        return this.error()
      case holds.errorCode:
        return object === objects.error
          ? this.errorValue(uses.errorCode, this.errorCode)
          : this.errorValue(uses.otherCode, this.errorCode)
      case holds.errorType:
        return this.errorValue(uses.errorType, this.errorType)
      case holds.errorStatus:
        return this.errorType.start >= 0
          ? this.errorValue(uses.errorText)
          : this.errorValue(uses.errorType, this.errorType)
      case holds.complaint:
        return this.complaint()
      case holds.errorMessage:
        return this.errorValue(uses.errorMessage, this.errorMessage)
      case holds.embeddings:
        if (this.peek() !== 91) return this.skip()
        this.blocks = 0
        return this.array(objects.embedding)
      case holds.gateway:
        return this.inside(objects.gateway)
      case holds.incomplete:
        return this.inside(objects.incomplete)
      case holds.metrics:
        return this.inside(objects.metrics)
      case holds.timings:
        return this.inside(objects.timings)
      case holds.usage:
        return this.inside(objects.usage)
      case holds.semantic:
        return this.keepSemantic()
      case holds.passes:
        return this.peek() === 91 ? this.array(objects.pass) : this.skip()
      default:
        return held >= usageObjectsFrom
          ? this.inside(objects.usage + held - usageObjectsFrom)
          : this.isNumberNext()
            ? this.keepCount(uses.counts + held - countsFrom)
            : this.skip()
    }
  }

  protected override element(object: number, index: number): boolean {
    switch (object) {
      case objects.choice:
        return this.choice(index)
      case objects.embedding:
        this.blocks = index + 1
        return this.skip()
      case objects.pass:
        this.passes = index + 1
        return this.skip()
      case objects.block:
        this.blocks = Math.max(this.blocks, index + 1)
        return this.peek() === 123 ? this.part(object) : this.skip()
      case objects.part:
        return this.peek() === 123 ? this.part(object) : this.text(object, uses.text)
      case objects.thought:
        return this.text(object, uses.reasoning)
      case objects.image:
        if (this.peek() === 34) return this.textString(uses.text)
        return this.inside(object)
      case objects.error:
        return this.inside(objects.root)
      default:
        return this.inside(object)
    }
  }

  /** An object of this kind, or a value that is skipped. */
  private inside(object: number): boolean {
    return this.peek() === 123 ? this.object(object) : this.skip()
  }

  private choice(index: number): boolean {
    this.choices = index + 1
    if (this.peek() !== 123) return this.skip()
    this.choiceIndex = index
    this.choiceFinish.start = -1
    const { valuesEnd: from, hasText } = this
    this.hasText = false
    if (!this.object(objects.choice)) return false
    const { choiceIndex, choiceFinish } = this
    const bit = choiceIndex >= 0 && choiceIndex < mostChoices ? 1 << choiceIndex : 0
    this.seen |= bit
    if (this.hasText) this.spoke |= bit
    this.hasText ||= hasText
    if (choiceFinish.start < 0) return true
    this.ended |= bit
    if (choiceIndex === 0) copySpan(choiceFinish, this.finish)
    else {
      // The index may follow the reason.
      this.reuse(from, uses.finish, uses.otherFinish)
      copySpan(choiceFinish, this.otherFinish)
      this.noteOther()
    }
    return true
  }

  /** Another choice has ended. */
  protected noteOther(): void {
    const { bytes, otherFinish } = this
    const reason = Buffer.from(bytes.subarray(otherFinish.start, otherFinish.end))
    this.otherFailed ||= isFailure(reason.toString('latin1'))
  }

  /** A part of a list of content: its type says whether its text is reasoning, and may follow it. */
  private part(object: number): boolean {
    const { hasText, hasReasoning, partIsThought, valuesEnd } = this
    this.partIsThought = false
    this.hasText = false
    if (!this.object(object)) return false
    if (this.partIsThought) {
      this.reuse(valuesEnd, uses.text, uses.reasoning)
      this.hasReasoning ||= this.hasText
    }
    this.partIsThought = partIsThought
    this.hasText ||= hasText
    this.hasReasoning ||= hasReasoning
    return true
  }

  /** It belongs to the shape, because it decides what the text of the part is. */
  private partType(): boolean {
    if (this.peek() !== 34) return this.skip()
    if (!this.scanString()) return false
    const { bytes, stringStart: start, stringEnd: end } = this
    this.partIsThought = thoughtTypes.some((word) =>
      spanBegins(bytes, { start, end, escaped: false }, word),
    )
    this.hasThought ||= this.partIsThought
    return true
  }

  /** A string, a list of parts, or one part. */
  private text(object: number, use: number): boolean {
    const within =
      object === objects.thought || object === objects.block
        ? object
        : object === objects.delta || object === objects.part
          ? objects.part
          : objects.block
    switch (this.peek()) {
      case 34:
        return this.textString(use)
      case 91:
        return this.list(within)
      case 123:
        return within === objects.thought ? this.object(within) : this.part(within)
      default:
        return this.skip()
    }
  }

  /** A list inside a part, which does not count as blocks of the answer. */
  private list(object: number): boolean {
    const { blocks } = this
    if (!this.array(object)) return false
    this.blocks = blocks
    return true
  }

  private textString(use: number): boolean {
    if (!this.string()) return false
    this.use(use)
    this.hear(use)
    return true
  }

  /** The last string is text of this use. */
  protected hear(use: number): void {
    if (this.stringEnd === this.stringStart) return
    this.hasText = true
    const bytes = this.stringEnd - this.stringStart
    this.textBytes += bytes
    if (use === uses.text) return
    this.hasReasoning = true
    this.thoughtBytes += bytes
    this.hasSummary ||= use === uses.summary
  }

  /** The name or the arguments of a tool call; some services send arguments as an object. */
  private tool(): boolean {
    if (this.peek() === 34) return this.textString(uses.text)
    const start = this.at
    if (!this.skip()) return false
    if (isObjectOrList(this.bytes[start]!) && this.at - start > 2) {
      this.hasText = true
      this.hasObjectText = true
      this.textBytes += this.at - start
    }
    return true
  }

  /** A text, list or object whose meaning is not known. A document with one is walked each time. */
  private unknownMember(keyStart: number, keyEnd: number): boolean {
    const start = this.at
    const first = this.peek()
    if (!this.skip()) return false
    if (first === 34) this.use(uses.unknown)
    const holdsText = first === 34 || isObjectOrList(first) ? this.at - start > 2 : false
    if (holdsText && this.unknown.start < 0) {
      this.unknown.start = keyStart
      this.unknown.end = keyEnd
      this.unknown.escaped = true
    }
    return true
  }

  private keepFinish(object: number): boolean {
    if (this.peek() !== 34) return this.skip()
    const from = this.at
    if (!this.scanString()) return false
    const { bytes, stringStart, stringEnd } = this
    // An empty reason belongs to the shape.
    if (isNoReason(bytes, stringStart, stringEnd)) return true
    this.at = from
    if (object === objects.choice) return this.keepString(this.choiceFinish, uses.finish)
    this.ended |= 1
    return this.keepString(this.finish, uses.finish)
  }

  private keepStatus(): boolean {
    if (this.peek() !== 34) return this.skip()
    const from = this.at
    if (!this.scanString()) return false
    const { bytes, stringStart, stringEnd } = this
    // A status that is no end belongs to the shape.
    if (isNoReason(bytes, stringStart, stringEnd)) return true
    this.at = from
    return this.keepString(this.status, uses.status)
  }

  /** It belongs to the shape. */
  private keepKind(): boolean {
    if (this.peek() !== 34) return this.skip()
    if (!this.scanString()) return false
    this.isErrorKind = isWord(this.bytes, this.stringStart, this.stringEnd, errorWord)
    return true
  }

  private keepIndex(): boolean {
    if (!this.isNumberNext()) return this.skip()
    // An index is part of the shape, because it decides which choice is the first.
    if (!this.scanNumber()) return false
    this.choiceIndex = this.lastNumber()
    this.maxIndex = Math.max(this.maxIndex, this.choiceIndex)
    return true
  }

  /** `error: null`, `""`, `{}`, `false` and 0 are not errors. */
  private error(): boolean {
    const first = this.peek()
    this.errorIsObject = first === 123
    if (first === 123) return this.object(objects.error)
    if (first === 34) return this.errorValue(uses.errorMessage, this.errorMessage)
    if (this.isNumberNext()) return this.errorValue(uses.errorText)
    const start = this.at
    if (!this.skip()) return false
    if (first === 116 || (first === 91 && this.at - start > 2)) this.sayError()
    return true
  }

  /** A sentence, or a list of issues, where errors have one. */
  private complaint(): boolean {
    const first = this.peek()
    if (first === 34) {
      this.complains = true
      return this.errorValue(uses.otherMessage, this.errorMessage)
    }
    this.complains ||= isObjectOrList(first)
    return this.skip()
  }

  /**
   * A value of an error.
   *
   * @param into the span to keep
   */
  private errorValue(use: number, into: Span | null = null): boolean {
    const first = this.peek()
    const start = this.at
    if (first === 34 || this.isNumberNext()) {
      if (!(first === 34 ? this.string() : this.number())) return false
      this.use(use)
      this.keepErrorValue(into, use, start, first === 34)
      return true
    }
    if (!this.skip()) return false
    if (isInError(use) && isObjectOrList(first) && this.at - start > 2) this.sayError()
    return true
  }

  protected keepErrorValue(into: Span | null, use: number, start: number, isString: boolean): void {
    const holdsText = isString ? this.stringEnd > this.stringStart : this.lastNumber() !== 0
    if (isInError(use) && holdsText) this.hasError = true
    if (into === null) return
    into.start = isString ? this.stringStart : start
    into.end = isString ? this.stringEnd : this.at
    into.escaped = isString && this.stringEscaped
  }

  private sayError(): void {
    this.hasError = true
    this.hasErrorMember = true
  }

  protected keepCount(use: number): boolean {
    if (!this.number()) return false
    this.use(use)
    const path = use - uses.counts
    this.counts[path] = this.lastNumber()
    if (this.countedEnd < mostCounts) this.counted[this.countedEnd++] = path
    return true
  }

  /** It belongs to the shape. */
  private keepSemantic(): boolean {
    if (this.peek() !== 34) return this.skip()
    if (!this.scanString()) return false
    const { bytes, stringStart, stringEnd } = this
    this.semantic = semanticWords.findIndex((word) => isWord(bytes, stringStart, stringEnd, word))
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

/** Whether the word for a reason says that there is none. */
export function isNoReason(bytes: Uint8Array, start: number, end: number): boolean {
  return noReasons.some((word) => isWord(bytes, start, end, word))
}

/** Whether a value of this use makes its document an error. */
function isInError(use: number): boolean {
  return use !== uses.otherCode && use !== uses.otherMessage
}

function isObjectOrList(byte: number): boolean {
  return byte === 123 || byte === 91
}

function copySpan(from: Span, to: Span): void {
  to.start = from.start
  to.end = from.end
  to.escaped = from.escaped
}
