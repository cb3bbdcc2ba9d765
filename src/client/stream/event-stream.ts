import { flags } from '../../attempt/flags.ts'
import type { AbortPoint } from '../../contract/request.ts'
import { isWord, type Span, spanBegins, spanEnds, spanIs } from '../bytes/span.ts'
import type { Call } from '../call/call.ts'
import { broken } from '../call/end.ts'
import type { DocumentReader } from '../document/document.ts'
import { DocumentFields } from '../document/document-fields.ts'
import type { AttemptContext, BodyReader } from '../row/attempt-context.ts'
import type { Capture } from '../row/capture.ts'
import { ContentTimes } from './content-times.ts'
import {
  bytesInCell,
  contentEventsCell,
  contentReadsCell,
  eventsCell,
  itlMaxUsCell,
  lastContentUsCell,
  readUsCell,
  rowCells,
} from './event-numbers.ts'
import { SseDecoder, type SseSink } from './sse.ts'

const doneEvent = Buffer.from('[DONE]')
const completedType = Buffer.from('response.completed')
/** Types of the events that end a stream of messages, or of responses. */
const lastTypes = ['message_stop', 'response.completed', 'response.incomplete'].map((type) =>
  Buffer.from(type),
)
const reasoningType = Buffer.from('response.reasoning')
const summaryType = Buffer.from('response.reasoning_summary')
/** End of the types of events that repeat what came in pieces. */
const doneType = Buffer.from('.done')

/**
 * Reads the body of a stream and returns its fields. Most events only add a token, and for them only a
 * row of numbers is touched.
 *
 *     an event                                what it does
 *     [DONE], message_stop, response.…        ends the stream, once
 *     an error                                is kept, and breaks the stream
 *     with an id, usage, a new choice, an end its document is kept
 *     with text                               is a time of content
 *     ….done, with text that came before      repeats it: no time of content
 */
export class EventStream implements SseSink, BodyReader {
  private call!: Call
  private readonly context: AttemptContext
  private readonly decoder: SseDecoder
  private readonly row: number
  private capture: Capture | null = null
  private abort: AbortPoint | null = null
  private done = false
  /** Whether the id and the model are known. */
  private isNamed = false
  private hasReasoning = false
  private choices = -1
  /** Which choices came, a bit for each, and which of them ended with a reason. */
  private choiceBits = 0
  private endedBits = 0
  private readonly content: ContentTimes
  private readonly fields = new DocumentFields()

  constructor(context: AttemptContext) {
    this.context = context
    this.row = context.numbers.take()
    this.content = new ContentTimes(context, this.row)
    this.decoder = new SseDecoder(this, context.memory)
  }

  /** Starts again, for the body of a call. */
  open(call: Call, capture: Capture | null): void {
    this.call = call
    this.capture = capture
    this.abort = call.request.abort
    this.done = false
    this.isNamed = false
    this.hasReasoning = false
    this.choices = -1
    this.choiceBits = 0
    this.endedBits = 0
    this.fields.clearDocument()
    const { row } = this
    const { cells } = this.context.numbers
    cells.fill(0, row, row + rowCells)
    cells[row + readUsCell] = this.context.readUs
    this.content.open(call)
  }

  /** Frees memory, ready for the next body. */
  letGo(): void {
    this.decoder.reset()
  }

  /** Time of the last read. */
  get lastReadUs(): number {
    return this.context.numbers.cells[this.row + readUsCell]!
  }

  /** Whether it has said its end. */
  get isDone(): boolean {
    return this.done
  }

  /** The body has ended; an event whose blank line is missing still counts. */
  end(): void {
    this.decoder.end()
  }

  /** The fields so far; valid until the next body. */
  result(): DocumentFields {
    const { row, fields } = this
    fields.endsOpen = fields.finishReason === null || (this.choiceBits & ~this.endedBits) !== 0
    const { cells } = this.context.numbers
    fields.firstContentUs = this.content.firstUs
    fields.lastContentUs = cells[row + lastContentUsCell]!
    fields.itlMaxUs = cells[row + itlMaxUsCell]!
    fields.textUs = this.content.textUs(this.choices)
    fields.bytesIn = cells[row + bytesInCell]!
    fields.events = cells[row + eventsCell]!
    fields.contentEvents = cells[row + contentEventsCell]!
    fields.contentReads = cells[row + contentReadsCell]!
    return fields
  }

  onBody(bytes: Buffer, start: number, end: number): void {
    const { row } = this
    const { cells } = this.context.numbers
    cells[row + readUsCell] = this.context.readUs
    cells[row + bytesInCell]! += end - start
    this.capture?.add(bytes, start, end)
    const issue = this.decoder.feed(bytes, start, end)
    if (issue !== null) this.call.leave(broken(issue))
  }

  onEvent(bytes: Buffer, start: number, end: number): void {
    this.handle(bytes, start, end, false)
  }

  onErrorEvent(bytes: Buffer, start: number, end: number): void {
    this.handle(bytes, start, end, true)
  }

  /** An error outside an event, which clients overlook. */
  onStray(bytes: Buffer, start: number, end: number, isErrorField: boolean): void {
    if (this.call.ended) return
    const { document } = this.context
    const isRead = document.read(bytes, start, end)
    if (isErrorField || (isRead && document.isError)) this.onError(bytes, isRead)
  }

  private handle(bytes: Buffer, start: number, end: number, isError: boolean): void {
    const { call } = this
    if (call.ended) return
    const events = ++this.context.numbers.cells[this.row + eventsCell]!
    if (events === 1) this.fields.firstEventUs = this.context.readUs
    if (this.done) this.fields.flags |= flags.afterDone
    call.listener.onEvent?.(this.context.readUs, bytes, start, end)
    if (isError) this.onError(bytes, this.context.document.read(bytes, start, end))
    else if (isWord(bytes, start, end, doneEvent)) this.onDone()
    else this.onChunk(bytes, start, end)
    const { abort } = this
    if (abort === null || call.ended) return
    if (abort.at === 'first-event') call.abort('first-event')
    else if (abort.at === 'after-events') {
      if (events >= abort.events) call.abort('after-events')
    } else if (abort.at === 'before-done') {
      // The last chunk before the end has the finish reason. A stream without one is aborted at its
      // end, although that is too late.
      if (this.fields.finishReason !== null || this.done) call.abort('before-done')
    }
  }

  /** @param isRead whether its document could be read, so that it may name a code */
  private onError(bytes: Buffer, isRead: boolean): void {
    const { document, words } = this.context
    this.fields.flags |= flags.errorInStream
    if (isRead) this.fields.keepError(document, bytes, words)
    else this.fields.errorShape ??= 'other'
  }

  private onDone(): void {
    this.done = true
    if (++this.fields.doneMarks > 1) return
    this.fields.doneUs = this.context.readUs
    this.call.onLast()
  }

  private onChunk(bytes: Buffer, start: number, end: number): void {
    const { fields } = this
    const { document, words } = this.context
    if (!document.read(bytes, start, end)) {
      fields.keepUnread(document)
      return
    }
    if (document.isError || (document.complains && document.isComplaint)) {
      this.onError(bytes, true)
      return
    }
    if (document.hasText && spanBegins(bytes, document.type, reasoningType)) {
      document.hasReasoning = true
      document.thoughtBytes = document.textBytes
      if (spanBegins(bytes, document.type, summaryType)) fields.flags |= flags.textInPart
    }
    if (document.hasSummary) fields.flags |= flags.textInPart
    const hasNewText = document.hasText && !this.repeats(bytes)
    if (hasNewText) {
      fields.textBytes += document.textBytes
      fields.thoughtBytes += document.thoughtBytes
    }
    fields.hasThought ||= document.hasThought
    if (this.isNews(document)) {
      fields.keepDocument(document, bytes, words)
      this.isNamed = fields.id.isKnown && fields.responseModel !== null
      this.hasReasoning ||= document.hasReasoning
      this.choices = Math.max(this.choices, choicesOf(document))
      if (this.choices >= 0) fields.choices = this.choices
      this.choiceBits |= document.choiceBits
      this.endedBits |= document.endedBits
      if (document.otherFailed) fields.otherFailed = true
    }
    if (document.unknown.start >= 0) {
      fields.unknownEvents++
      fields.unknownMember ??= words.text(bytes, document.unknown)
    }
    if (hasNewText) this.content.onText(document.textBits)
    if (isLast(bytes, document.type)) this.onLast(bytes)
  }

  /** The last event in messages or Responses. */
  private onLast(bytes: Buffer): void {
    const { document } = this.context
    // Its type alone says that it ended well.
    this.fields.finishReason ??= spanIs(bytes, document.type, completedType) ? 'completed' : null
    this.onDone()
  }

  /** Whether its text came in pieces before: the last event may repeat the whole answer, and one that ends a part its text. */
  private repeats(bytes: Buffer): boolean {
    const { type } = this.context.document
    if (type.start < 0 || this.content.isEmpty) return false
    return spanEnds(bytes, type, doneType) || isLast(bytes, type)
  }

  /** Whether it has a field that no earlier event had. */
  private isNews(document: DocumentReader): boolean {
    return (
      (!this.isNamed && (document.id.start >= 0 || document.model.start >= 0)) ||
      document.endedBits !== 0 ||
      (document.choiceBits & ~this.choiceBits) !== 0 ||
      (document.hasReasoning && !this.hasReasoning) ||
      choicesOf(document) > this.choices ||
      document.countedEnd > 0
    )
  }
}

/** Whether an event of this type ends its stream. */
function isLast(bytes: Buffer, type: Span): boolean {
  if (type.start < 0) return false
  for (const last of lastTypes) if (spanIs(bytes, type, last)) return true
  return false
}

/** Number of choices, or highest index plus 1, in an event; -1 if it has none. */
const choicesOf = (document: DocumentReader): number =>
  Math.max(document.choices, document.maxIndex >= 0 ? document.maxIndex + 1 : -1)
