import { flags } from '../../attempt/flags.ts'
import { type Span, spanIs } from '../bytes/span.ts'
import { ResponseId } from '../head/response-id.ts'
import type { ResponseWords } from '../row/response-words.ts'
import type { DocumentReader } from './document.ts'
import { TokenFields, UsageCounts } from './usage-counts.ts'

const errorWord = Buffer.from('error')

/** The content of a body or of all events of a stream: fields are columns of the row, NaN for null. */
export class DocumentFields extends TokenFields {
  id = new ResponseId()
  /** Its counts become the token fields at the end of the answer. */
  usage = new UsageCounts()
  responseModel: string | null = null
  finishReason: string | null = null
  choices = Number.NaN
  errorShape: string | null = null
  errorCode: string | null = null
  errorType: string | null = null
  errorMessage: string | null = null
  flags = 0
  /** Whether a document was nested too deeply for the reader. */
  tooDeep = false
  /** Whether a choice that came has no reason for its end. */
  endsOpen = false
  /** Whether a choice other than the first ended because it failed. */
  otherFailed = false
  /** Events with a member of a delta that the reader does not know, and the name of the first. */
  unknownEvents = 0
  unknownMember: string | null = null
  firstEventUs = Number.NaN
  firstContentUs = Number.NaN
  lastContentUs = Number.NaN
  doneUs = Number.NaN
  events = 0
  contentEvents = 0
  contentReads = 0
  doneMarks = 0
  itlMaxUs = Number.NaN
  textUs = Number.NaN
  /** Bytes of the text of a stream, as it writes them. */
  textBytes = 0
  /** Bytes of its reasoning, as far as members say that they are. */
  thoughtBytes = 0
  /** Whether it has a part of reasoning, with or without text. */
  hasThought = false
  bytesIn = 0

  get statesTimes(): boolean {
    return this.usage.times.isKnown
  }

  get queueUs(): number {
    return this.usage.times.queueUs
  }

  get prefillUs(): number {
    return this.usage.times.prefillUs
  }

  get decodeUs(): number {
    return this.usage.times.decodeUs
  }

  keepDocument(document: DocumentReader, bytes: Buffer, words: ResponseWords): void {
    // Some streams begin with a chunk of empty fields, so the first value that is not empty counts.
    if (isGiven(document.id) && !this.id.isKnown) this.id.keep(bytes, document.id, words.secrets)
    if (isGiven(document.model) && this.responseModel === null)
      this.responseModel = words.text(bytes, document.model)
    if (document.finish.start >= 0) this.finishReason = words.text(bytes, document.finish)
    if (document.countedEnd > 0)
      this.usage.take(document.counted, document.countedEnd, document.counts, document.semantic)
    if (document.hasReasoning) this.flags |= flags.reasoning
    if (document.passes > 1) this.flags |= flags.severalPasses
  }

  keepError(document: DocumentReader, bytes: Buffer, words: ResponseWords): void {
    if (!document.errorIsObject) this.errorShape = 'other'
    else this.errorShape = spanIs(bytes, document.type, errorWord) ? 'messages' : 'chat'
    if (document.errorMessage.start >= 0)
      this.errorMessage = words.text(bytes, document.errorMessage)
    if (document.errorCode.start >= 0) this.errorCode = words.text(bytes, document.errorCode)
    if (document.errorType.start >= 0) this.errorType = words.text(bytes, document.errorType)
    // An error without a member `error` has its type at the top.
    else if (document.type.start >= 0 && !spanIs(bytes, document.type, errorWord))
      this.errorType = words.text(bytes, document.type)
  }

  /** Sets the reason why a document cannot be read. */
  keepUnread({ badUtf8, tooDeep }: DocumentReader): void {
    if (badUtf8) this.flags |= flags.notUtf8
    else if (tooDeep) this.tooDeep = true
    else this.flags |= flags.notJson
  }

  /** Takes the fields of another; ids and counts are swapped instead of copied. */
  takeDocument(from: DocumentFields): void {
    const { id, usage } = this
    this.id = from.id
    from.id = id
    this.usage = from.usage
    from.usage = usage
    this.responseModel = from.responseModel
    this.finishReason = from.finishReason
    this.choices = from.choices
    this.errorShape = from.errorShape
    this.errorCode = from.errorCode
    this.errorType = from.errorType
    this.errorMessage = from.errorMessage
    this.flags |= from.flags
    this.tooDeep = from.tooDeep
    this.endsOpen = from.endsOpen
    this.otherFailed = from.otherFailed
    this.unknownEvents = from.unknownEvents
    this.unknownMember = from.unknownMember
    this.firstEventUs = from.firstEventUs
    this.firstContentUs = from.firstContentUs
    this.lastContentUs = from.lastContentUs
    this.doneUs = from.doneUs
    this.events = from.events
    this.contentEvents = from.contentEvents
    this.contentReads = from.contentReads
    this.doneMarks = from.doneMarks
    this.itlMaxUs = from.itlMaxUs
    this.textUs = from.textUs
    this.textBytes = from.textBytes
    this.thoughtBytes = from.thoughtBytes
    this.hasThought = from.hasThought
    this.bytesIn = from.bytesIn
  }

  clearDocument(): void {
    this.id.clear()
    this.responseModel = null
    this.finishReason = null
    this.choices = Number.NaN
    this.usage.clear()
    this.clearTokens()
    this.errorShape = null
    this.errorCode = null
    this.errorType = null
    this.errorMessage = null
    this.flags = 0
    this.tooDeep = false
    this.endsOpen = false
    this.otherFailed = false
    this.unknownEvents = 0
    this.unknownMember = null
    this.firstEventUs = Number.NaN
    this.firstContentUs = Number.NaN
    this.lastContentUs = Number.NaN
    this.doneUs = Number.NaN
    this.events = 0
    this.contentEvents = 0
    this.contentReads = 0
    this.doneMarks = 0
    this.itlMaxUs = Number.NaN
    this.textUs = Number.NaN
    this.textBytes = 0
    this.thoughtBytes = 0
    this.hasThought = false
    this.bytesIn = 0
  }
}

/** Whether a field was present and not empty; `end` is stale if it was absent. */
const isGiven = ({ start, end }: Span): boolean => start >= 0 && end > start
