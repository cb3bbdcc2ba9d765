import { span, spanIs, words } from '../bytes/span.ts'
import { answerTimes } from './answer-times.ts'
import { isFailure } from './finish-reasons.ts'
import { JsonCursor } from './json.ts'
import { usagePaths } from './usage-counts.ts'

/** Types of events that end a stream with a failure. */
const failedTypes = words('error', 'response.failed', 'response.cancelled', 'response.error')
const counted = usagePaths.length + answerTimes.length
/** A mask has a bit for each choice before this one. */
export const mostChoices = 31

/** What a walk over one document of a response found. */
export abstract class DocumentFacts extends JsonCursor {
  isObject = false
  /** Whether some bytes are not UTF-8. */
  badUtf8 = false
  readonly id = span()
  readonly model = span()
  readonly type = span()
  /** Why the first choice ended, in a word that is not empty. */
  readonly finish = span()
  /** The same of the last other choice. */
  readonly otherFinish = span()
  /** Whether another choice ended because it failed. */
  otherFailed = false
  /** Elements of `choices`; -1 without such an array. */
  choices = -1
  /** Elements of `content`, `output` or `data`; 0 if it is not an array, -1 if absent. */
  blocks = -1
  /** Largest `index` of a choice, or of a content block; -1 for none. */
  maxIndex = -1
  /** Which choices it has, a bit for each: the first of `mostChoices` is 1. */
  choiceBits = 0
  /** Which of them end with a reason. */
  endedBits = 0
  /** Which of them have text. */
  textBits = 0
  /** Whether it has non-empty text: content, reasoning, a refusal, a tool call or audio. */
  hasText = false
  hasReasoning = false
  /** Bytes of its text, as they are written. */
  textBytes = 0
  /** Bytes of its reasoning, as far as a member, or the type of a part, says that they are. */
  thoughtBytes = 0
  /** Whether a member says that its reasoning is a summary. */
  hasSummary = false
  /** Whether it has a part of reasoning, with or without text. */
  hasThought = false
  /** Whether a member without a string makes it have text, such as the arguments of a tool as an object: a shape does not know how long. */
  hasObjectText = false
  /** Name of the first member of a delta that is not known and says something. */
  readonly unknown = span()
  /** Counts of usage by index in `usagePaths`, then times by index in `answerTimes`, for the indexes `counted[..countedEnd)`. */
  readonly counts = new Float64Array(counted)
  readonly counted = new Int32Array(counted)
  countedEnd = 0
  /** Index in `semantics`; -1 if it is not stated. */
  semantic = -1
  /** How many passes its usage lists. */
  passes = 0
  /** Whether `error` says something; `null`, `""` and `{}` do not. */
  hasError = false
  /** The same by its structure alone. */
  hasErrorMember = false
  errorIsObject = false
  /** Whether it has a sentence where errors have one, outside `error`. */
  complains = false
  readonly errorCode = span()
  readonly errorType = span()
  readonly errorMessage = span()
  /** Whether it says `"object": "error"`. */
  isErrorKind = false

  /** Whether it is an error, in any dialect: it has an `error`, or its type or its object is one. */
  get isError(): boolean {
    if (this.hasError || this.isErrorKind) return true
    const { bytes, type } = this
    return type.start >= 0 && failedTypes.some((word) => spanIs(bytes, type, word))
  }

  /** Whether it is an error in place of an answer, such as `{"detail":"…"}`: a sentence, and no part of an answer. */
  get isComplaint(): boolean {
    if (!this.complains || this.choices > 0 || this.blocks >= 0 || this.hasText) return false
    const { bytes, type } = this
    if (type.start < 0 || this.errorCode.start >= 0) return true
    return isFailure(Buffer.from(bytes.subarray(type.start, type.end)).toString('latin1'))
  }

  protected clear(): void {
    this.isObject = false
    this.badUtf8 = false
    this.id.start = -1
    this.model.start = -1
    this.type.start = -1
    this.finish.start = -1
    this.otherFinish.start = -1
    this.otherFailed = false
    this.choices = -1
    this.blocks = -1
    this.maxIndex = -1
    this.choiceBits = 0
    this.endedBits = 0
    this.textBits = 0
    this.hasText = false
    this.hasReasoning = false
    this.textBytes = 0
    this.thoughtBytes = 0
    this.hasSummary = false
    this.hasThought = false
    this.hasObjectText = false
    this.unknown.start = -1
    this.countedEnd = 0
    this.semantic = -1
    this.passes = 0
    this.hasError = false
    this.hasErrorMember = false
    this.errorIsObject = false
    this.complains = false
    this.isErrorKind = false
    this.errorCode.start = -1
    this.errorType.start = -1
    this.errorMessage.start = -1
  }
}
