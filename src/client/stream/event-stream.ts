import { flags } from '../../attempt/flags.ts'
import type { AbortPoint } from '../../contract/request.ts'
import { isWord, type Span, spanBegins, spanEnds, spanIs } from '../bytes/span.ts'
import type { Call } from '../call/call.ts'
import { broken } from '../call/end.ts'
import { ChoiceTimes } from '../document/choice-times.ts'
import type { DocumentReader } from '../document/document.ts'
import { DocumentFields } from '../document/document-fields.ts'
import { mostChoices } from '../document/document-walk.ts'
import type { AttemptContext, BodyReader } from '../row/attempt-context.ts'
import type { Capture } from '../row/capture.ts'
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

/** Cells of a row of `EventNumbers`: one cache line. */
const rowCells = 8
const readUsCell = 0
const lastContentUsCell = 1
const itlMaxUsCell = 2
const bytesInCell = 3
const eventsCell = 4
const contentEventsCell = 5
const contentReadsCell = 6

/**
 * Numbers that each event changes: one row for each stream of a thread, in one array. As fields of
 * objects, fractional numbers would be separate heap objects, too many for a cache.
 */
export class EventNumbers {
  cells = new Float64Array(64 * rowCells)
  private used = 0

  /** @returns index of the first cell of a new row */
  take(): number {
    const row = this.used
    this.used += rowCells
    if (this.used > this.cells.length) {
      const larger = new Float64Array(this.cells.length * 2)
      larger.set(this.cells)
      this.cells = larger
    }
    return row
  }
}

/**
 * Reads the body of a stream and returns its fields. Most events only add a token, and for them only a
 * row of numbers is touched.
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
  private named = false
  private reasoned = false
  private choices = -1
  /** Bits of the choices that came, and of those that ended with a reason. */
  private seen = 0
  private ended = 0
  /** Times of each choice, once another than the first has text; created for the first such stream. */
  private ownTimes: ChoiceTimes | null = null
  private times: ChoiceTimes | null = null
  private readonly said = new DocumentFields()

  constructor(context: AttemptContext) {
    this.context = context
    this.row = context.numbers.take()
    this.decoder = new SseDecoder(this, context.memory)
  }

  /** Starts again, for the body of a call. */
  open(call: Call, capture: Capture | null): void {
    this.call = call
    this.capture = capture
    this.abort = call.request.abort
    this.done = false
    this.named = false
    this.reasoned = false
    this.choices = -1
    this.seen = 0
    this.ended = 0
    this.times = null
    this.said.clearDocument()
    const { row } = this
    const { cells } = this.context.numbers
    cells.fill(0, row, row + rowCells)
    cells[row + readUsCell] = this.context.readUs
    cells[row + lastContentUsCell] = Number.NaN
    cells[row + itlMaxUsCell] = Number.NaN
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
    const { row, said } = this
    said.endsOpen = said.finishReason === null || (this.seen & ~this.ended) !== 0
    const { cells } = this.context.numbers
    said.lastContentUs = cells[row + lastContentUsCell]!
    said.itlMaxUs = cells[row + itlMaxUsCell]!
    // A mask has no bit for further choices.
    if (this.times !== null && this.choices <= mostChoices) said.textUs = this.times.textUs
    said.bytesIn = cells[row + bytesInCell]!
    said.events = cells[row + eventsCell]!
    said.contentEvents = cells[row + contentEventsCell]!
    said.contentReads = cells[row + contentReadsCell]!
    return said
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
    if (events === 1) this.said.firstEventUs = this.context.readUs
    if (this.done) this.said.flags |= flags.afterDone
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
      if (this.said.finishReason !== null || this.done) call.abort('before-done')
    }
  }

  /** @param isRead whether its document could be read, so that it may name a code */
  private onError(bytes: Buffer, isRead: boolean): void {
    const { document, words } = this.context
    this.said.flags |= flags.errorInStream
    if (isRead) this.said.keepError(document, bytes, words)
    else this.said.errorShape ??= 'other'
  }

  private onDone(): void {
    this.done = true
    if (++this.said.doneMarks > 1) return
    this.said.doneUs = this.context.readUs
    this.call.onLast()
  }

  private onChunk(bytes: Buffer, start: number, end: number): void {
    const { said } = this
    const { document, words } = this.context
    if (!document.read(bytes, start, end)) {
      said.keepUnread(document)
      return
    }
    if (document.isError || (document.complains && document.isComplaint)) {
      this.onError(bytes, true)
      return
    }
    if (document.hasText && spanBegins(bytes, document.type, reasoningType)) {
      document.hasReasoning = true
      if (spanBegins(bytes, document.type, summaryType)) said.flags |= flags.textInPart
    }
    if (document.hasSummary) said.flags |= flags.textInPart
    said.textBytes += document.textBytes
    said.thoughtBytes += document.thoughtBytes
    said.hasThought ||= document.hasThought
    if (this.isNews(document)) {
      said.keepDocument(document, bytes, words)
      this.named = said.id.isKnown && said.responseModel !== null
      this.reasoned ||= document.hasReasoning
      this.choices = Math.max(this.choices, choicesOf(document))
      if (this.choices >= 0) said.choices = this.choices
      this.seen |= document.seen
      this.ended |= document.ended
      if (document.otherFailed) said.otherFailed = true
    }
    if (document.unknown.start >= 0) {
      said.unknownEvents++
      said.unknownMember ??= words.text(bytes, document.unknown)
    }
    if (isLast(bytes, document.type)) this.onLast(bytes)
    else if (document.hasText && !this.repeats(bytes)) this.onContent()
  }

  /** The last event in messages or Responses, which may repeat the whole answer. */
  private onLast(bytes: Buffer): void {
    const { type, hasText } = this.context.document
    // Its type alone says that it ended well.
    this.said.finishReason ??= spanIs(bytes, type, completedType) ? 'completed' : null
    if (hasText && this.hasNoContent) this.onContent()
    this.onDone()
  }

  private repeats(bytes: Buffer): boolean {
    return spanEnds(bytes, this.context.document.type, doneType) && !this.hasNoContent
  }

  private get hasNoContent(): boolean {
    return this.context.numbers.cells[this.row + contentEventsCell] === 0
  }

  /** Whether it has a field that no earlier event had. */
  private isNews(document: DocumentReader): boolean {
    return (
      (!this.named && (document.id.start >= 0 || document.model.start >= 0)) ||
      document.ended !== 0 ||
      (document.seen & ~this.seen) !== 0 ||
      (document.hasReasoning && !this.reasoned) ||
      choicesOf(document) > this.choices ||
      document.countedEnd > 0
    )
  }

  private onContent(): void {
    const { row } = this
    const { readUs, document } = this.context
    const { cells } = this.context.numbers
    const contentEvents = ++cells[row + contentEventsCell]!
    const lastUs = cells[row + lastContentUsCell]!
    cells[row + lastContentUsCell] = readUs
    if (contentEvents === 1) {
      this.said.firstContentUs = readUs
      this.call.listener.onContent?.(readUs - this.call.sentUs)
    }
    if (!(readUs <= lastUs)) cells[row + contentReadsCell]!++
    if (this.times === null) {
      if (document.spoke <= 1) {
        if (contentEvents > 1) this.onGap(readUs - lastUs)
        return
      }
      this.times = this.timesFrom(lastUs)
    }
    for (let choice = 0; choice < mostChoices; choice++) {
      if ((document.spoke & (1 << choice)) === 0) continue
      const gapUs = this.times.see(choice, readUs)
      if (!Number.isNaN(gapUs)) this.onGap(gapUs)
    }
  }

  /** The times of a stream in which only the first choice had text, until `lastUs`. */
  private timesFrom(lastUs: number): ChoiceTimes {
    const times = this.ownTimes ?? new ChoiceTimes()
    this.ownTimes = times
    times.clear()
    if (!Number.isNaN(lastUs)) {
      times.see(0, this.said.firstContentUs)
      times.see(0, lastUs)
    }
    return times
  }

  private onGap(gapUs: number): void {
    const { cells } = this.context.numbers
    const { row } = this
    // The comparison is false for NaN, so the first gap counts.
    if (!(cells[row + itlMaxUsCell]! >= gapUs)) cells[row + itlMaxUsCell] = gapUs
    this.call.listener.onGap(gapUs)
  }
}

/** Whether an event of this type ends its stream. */
function isLast(bytes: Buffer, type: Span): boolean {
  if (type.start < 0) return false
  for (const last of lastTypes) if (spanIs(bytes, type, last)) return true
  return false
}

/** Number of choices, or highest index plus 1, in an event; -1 if it has none. */
function choicesOf(document: DocumentReader): number {
  return Math.max(document.choices, document.maxIndex >= 0 ? document.maxIndex + 1 : -1)
}
