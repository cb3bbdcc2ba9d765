import { copySpan, isWord, type Span, setSpan, span, spanBegins, words } from '../bytes/span.ts'
import { DocumentFacts } from './document-facts.ts'
import { uses } from './document-words.ts'
import { isFailure } from './finish-reasons.ts'
import { stringValue } from './json.ts'
import { semantics } from './usage-counts.ts'

/** Values of `finish_reason`, which some services send in every chunk, and of `status` that are no end. */
const noReasons = words('', 'null', 'queued', 'in_progress')
const errorWord = Buffer.from('error')
/** Begins the type of a part whose text is reasoning. */
const thoughtTypes = words('reasoning', 'thinking', 'redacted_thinking', 'summary')
const semanticWords = words(...semantics)

/**
 * Reads a string or a number for its use, and keeps what it says. One that is part of the shape is scanned and not noted as a value, so that
 * a document with another one has another shape, and is walked; `keepLast…` keeps the one just scanned. A walk
 * (`document-walk.ts`) and a known shape (`document.ts`) both end there.
 */
export abstract class DocumentValues extends DocumentFacts {
  /** The end of the choice that is read, and its number. */
  protected readonly choiceFinish = span()
  protected choiceIndex = 0
  /** The status of a response, which may be its end. */
  protected readonly status = span()
  /** Whether the type of the part that is read says that its text is reasoning. */
  protected partIsThought = false

  protected override clear(): void {
    super.clear()
    this.choiceFinish.start = -1
    this.choiceIndex = 0
    this.status.start = -1
    this.partIsThought = false
  }

  protected keepLastText(use: number): void {
    const bytes = this.stringEnd - this.stringStart
    if (bytes === 0) return
    this.hasText = true
    this.textBytes += bytes
    if (use === uses.text) return
    this.hasReasoning = true
    this.thoughtBytes += bytes
    this.hasSummary ||= use === uses.summary
  }

  protected keepLastString(into: Span): void {
    setSpan(into, this.stringStart, this.stringEnd, this.stringEscaped)
  }

  /** The last number is the count of this use; of one that is repeated, the last counts. */
  protected keepLastCount(use: number): void {
    const path = use - uses.counts
    this.counts[path] = this.lastNumber()
    const { counted, countedEnd } = this
    for (let at = 0; at < countedEnd; at++) if (counted[at] === path) return
    counted[this.countedEnd++] = path
  }

  /** The last string or number is a value of an error; `into` is the span to keep, `start` its first byte. */
  protected keepLastErrorValue(
    into: Span | null,
    use: number,
    start: number,
    isString: boolean,
  ): void {
    const saysSomething = isString ? this.stringEnd > this.stringStart : this.lastNumber() !== 0
    if (isInError(use) && saysSomething) this.hasError = true
    if (into === null) return
    if (isString) this.keepLastString(into)
    else setSpan(into, start, this.at, false)
  }

  /** A choice other than the first has ended, for the reason `otherFinish`. */
  protected noteOtherEnd(): void {
    const { bytes, otherFinish } = this
    const reason = Buffer.from(bytes.subarray(otherFinish.start, otherFinish.end))
    this.otherFailed ||= isFailure(reason.toString('latin1'))
  }

  protected keepText(use: number): boolean {
    if (!this.noteString(use)) return false
    this.keepLastText(use)
    return true
  }

  protected keepString(into: Span, use: number): boolean {
    if (!this.atString()) return this.skip()
    if (!this.noteString(use)) return false
    this.keepLastString(into)
    return true
  }

  protected keepCount(use: number): boolean {
    if (!this.atNumber()) return this.skip()
    if (!this.noteNumber(use)) return false
    this.keepLastCount(use)
    return true
  }

  /** Why an answer or a choice ended. A word that is no reason is part of the shape: of that shape, no document has an end. */
  protected keepReason(into: Span, use: number): boolean {
    if (!this.atString()) return this.skip()
    const start = this.at
    if (!this.scanString()) return false
    if (isNoReason(this.bytes, this.stringStart, this.stringEnd)) return true
    this.noteValue(start, use)
    this.keepLastString(into)
    return true
  }

  /** A value of an error that may be anything. @param into the span to keep */
  protected keepErrorValue(use: number, into: Span | null): boolean {
    const start = this.at
    const isString = this.atString()
    if (isString || this.atNumber()) {
      if (!(isString ? this.noteString(use) : this.noteNumber(use))) return false
      this.keepLastErrorValue(into, use, start, isString)
      return true
    }
    if (!this.skip()) return false
    if (isInError(use) && this.isFilled(start)) this.noteError()
    return true
  }

  /** A sentence, or a list of issues, where errors have one. */
  protected keepComplaint(): boolean {
    if (this.atString()) {
      this.complains = true
      return this.keepErrorValue(uses.otherMessage, this.errorMessage)
    }
    this.complains ||= this.atList() || this.atObject()
    return this.skip()
  }

  /** The structure of the document alone makes it an error. */
  protected noteError(): void {
    this.hasError = true
    this.hasErrorMember = true
  }

  /** The index of a choice is part of the shape, because it decides which choice is the first. */
  protected readIndex(): boolean {
    if (!this.atNumber()) return this.skip()
    if (!this.scanNumber()) return false
    this.choiceIndex = this.lastNumber()
    this.maxIndex = Math.max(this.maxIndex, this.choiceIndex)
    return true
  }

  /** The type of a part is part of the shape, because it decides what the text of the part is. */
  protected readPartType(): boolean {
    if (!this.atString()) return this.skip()
    if (!this.scanString()) return false
    const { bytes, stringStart: start, stringEnd: end } = this
    this.partIsThought = thoughtTypes.some((word) =>
      spanBegins(bytes, { start, end, escaped: false }, word),
    )
    this.hasThought ||= this.partIsThought
    return true
  }

  /** `object` is part of the shape. */
  protected readKind(): boolean {
    if (!this.atString()) return this.skip()
    if (!this.scanString()) return false
    this.isErrorKind = isWord(this.bytes, this.stringStart, this.stringEnd, errorWord)
    return true
  }

  /** `usage_semantic` is part of the shape. */
  protected readSemantic(): boolean {
    if (!this.atString()) return this.skip()
    if (!this.scanString()) return false
    const { bytes, stringStart, stringEnd } = this
    this.semantic = semanticWords.findIndex((word) => isWord(bytes, stringStart, stringEnd, word))
    return true
  }

  /**
   * At the end of a document, its status becomes its end. Next to `choices` it is something else. The use that was noted for it is changed to
   * what it is, for documents of the same shape that are read without a walk.
   */
  protected takeStatus(): void {
    if (this.status.start < 0) return
    if (this.choices >= 0 || this.finish.start >= 0) {
      this.changeUse(0, uses.status, stringValue)
      return
    }
    this.changeUse(0, uses.status, uses.finish)
    copySpan(this.status, this.finish)
    this.endedBits |= 1
  }
}

/** Whether the word for a reason says that there is none. */
export const isNoReason = (bytes: Uint8Array, start: number, end: number): boolean =>
  noReasons.some((word) => isWord(bytes, start, end, word))

/** Whether a value of this use makes its document an error. */
const isInError = (use: number): boolean => use !== uses.otherCode && use !== uses.otherMessage
