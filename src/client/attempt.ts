import { flags } from '../attempt/flags.ts'
import type { End } from '../attempt/outcome.ts'
import type { Call } from './call.ts'
import { Capture, type Captured } from './capture.ts'
import type { DeadlineTimer } from './deadlines.ts'
import { broken, plainEnd, streamEnd } from './end.ts'
import { PlainBody } from './plain-body.ts'
import type { ReplyReader } from './reply.ts'
import type { PreparedRequest } from './request.ts'
import { ResponseFields } from './response-fields.ts'
import type { ResponseHead } from './response-head.ts'
import type { ResponseWords } from './response-words.ts'
import { isWord, spanIs } from './span.ts'
import { SseDecoder } from './sse.ts'
import type { HeaderLines, Transport } from './transport.ts'

/** Which responses to keep word for word; `errors` are all that are not 2xx. */
export type CaptureChoice = 'always' | 'errors' | 'never'

/** Told about one attempt while it runs. */
export interface AttemptListener {
  /** A content event came `gapUs` after the one before it in the same stream (0: same read). */
  onGap(gapUs: number): void
  /** It is over. The attempt is used again once this returns: copy what you need. */
  onEnd(attempt: Attempt): void
  /** The response head is complete. */
  onHead?(attempt: Attempt): void
  /** An event of a stream came; `bytes[start..end)` is its data, valid during the call. */
  onEvent?(attempt: Attempt, bytes: Buffer, start: number, end: number): void
}

/** What the attempts of one thread share. */
export interface Bench {
  readonly transport: Transport
  readonly now: () => number
  readonly timer: DeadlineTimer
  readonly head: ResponseHead
  readonly reply: ReplyReader
  readonly words: ResponseWords
  readonly captureBytes: number
  /** When the read came that is being handled: the stamp of all that it brought. */
  readUs: number
  /** Gives an attempt that nobody uses. */
  take(): Attempt
  /** Takes both back when the last callback has returned. */
  release(call: Call, attempt: Attempt): void
}

const doneEvent = Buffer.from('[DONE]')
const messageStop = Buffer.from('message_stop')
const errorType = Buffer.from('error')

/** How the body is read: decided by its head. */
type Mode = 'none' | 'plain' | 'stream'

/**
 * The answering half of an attempt: its fields are the response half of a row, by the names of the
 * columns. Numbers that are null in the row are NaN here. Its `Call` hands it what comes.
 *
 * Attempts are pooled: nothing is allocated for one but what a long event or a capture needs.
 */
export class Attempt extends ResponseFields {
  /** Null unless asked for. */
  captured: Captured | null = null
  request!: PreparedRequest

  private readonly bench: Bench
  private call!: Call
  private readonly plain: PlainBody
  private decoder: SseDecoder | null = null
  private capture: Capture | null = null
  private mode: Mode = 'none'
  /** Of the body, as the head says; NaN when it does not. */
  contentLength = Number.NaN
  private wellFormed = false
  constructor(bench: Bench) {
    super()
    this.bench = bench
    this.plain = new PlainBody(bench.reply, (wellFormed) => this.onDocument(wellFormed))
  }

  /** When the read came that is being handled. */
  get readUs(): number {
    return this.bench.readUs
  }

  /** Begins anew, for a call that was sent or failed. */
  open(call: Call): void {
    this.clear()
    this.captured = null
    this.capture = null
    this.mode = 'none'
    this.wellFormed = false
    this.plain.reset()
    this.decoder?.reset()
    this.call = call
    this.request = call.request
    this.dispatchedUs = call.dispatchedUs
    this.sentUs = call.sentUs
    this.flags = call.flags
  }

  onHead(status: number, head: Buffer, start: number, end: number, lines: HeaderLines): void {
    const { captureChoice, listener } = this.call
    this.headersUs = this.bench.readUs
    this.status = status
    this.bench.head.read(head, lines, this)
    const success = status >= 200 && status < 300
    this.mode = success && (this.flags & flags.sseType) !== 0 ? 'stream' : 'plain'
    if (captureChoice === 'always' || (captureChoice === 'errors' && !success)) {
      this.capture = new Capture(this.request.key, this.bench.captureBytes, head, start, end)
    }
    listener.onHead?.(this)
    if (this.request.abort?.at === 'after-headers') this.call.abort('after-headers')
  }

  onBody(bytes: Buffer, start: number, end: number): void {
    const { call } = this
    this.bytesIn += end - start
    this.capture?.add(bytes, start, end)
    if (this.mode === 'plain') {
      if (end - start !== this.contentLength) call.armIdle()
      if (!this.plain.add(bytes, start, end, this.contentLength)) call.leave(broken('too-large'))
    } else {
      call.armIdle()
      this.decoder ??= new SseDecoder(this)
      if (!this.decoder.feed(bytes, start, end)) call.leave(broken('too-large'))
    }
  }

  /** The exchange is over. @returns how it ended */
  onEnd(): End {
    this.closedUs = this.bench.readUs
    if (this.mode === 'plain') {
      this.doneUs = this.closedUs
      this.plain.end()
      return this.plainEnd()
    }
    return streamEnd(this.request.streamed, this)
  }

  /** Nothing more comes. */
  close(end: End): void {
    this.outcome = end.outcome
    this.reason = 'reason' in end ? end.reason : null
    if (Number.isNaN(this.closedUs)) this.closedUs = this.bench.now()
    if (this.capture !== null) {
      this.captured = this.capture.finish()
      this.flags |= flags.captured
    }
  }

  /** An event of the stream. */
  onEvent(bytes: Buffer, start: number, end: number): void {
    const { call } = this
    if (call.ended) return
    this.events++
    if (this.events === 1) this.firstEventUs = this.bench.readUs
    if (this.doneMarks > 0) this.flags |= flags.afterDone
    call.listener.onEvent?.(this, bytes, start, end)
    if (isWord(bytes, start, end, doneEvent)) this.done()
    else this.onChunk(bytes, start, end)
    const { abort } = this.request
    if (abort === null || call.ended) return
    if (abort.at === 'first-event') call.abort('first-event')
    else if (abort.at === 'after-events') {
      if (this.events >= abort.events) call.abort('after-events')
    } else if (abort.at === 'before-done') {
      // The last chunk before the end says why generation ended; the end itself is too late, but
      // a stream without such a chunk is left there all the same.
      if (this.finishReason !== null || this.doneMarks > 0) call.abort('before-done')
    }
  }

  private onChunk(bytes: Buffer, start: number, end: number): void {
    const { reply } = this.bench
    if (!reply.read(bytes, start, end)) {
      this.flags |= reply.badUtf8 ? flags.notUtf8 : flags.notJson
      return
    }
    if (reply.hasError || spanIs(bytes, reply.type, errorType)) {
      this.flags |= flags.errorInStream
      this.keepError(reply, bytes, this.bench.words, this.request.key)
      return
    }
    this.keepReply(reply, bytes, this.bench.words, this.request.key)
    if (reply.choices >= 0 || reply.maxIndex >= 0) {
      this.choices = atLeast(this.choices, Math.max(reply.choices, reply.maxIndex + 1))
    }
    if (spanIs(bytes, reply.type, messageStop)) this.done()
    if (!reply.hasText) return
    const { readUs } = this.bench
    this.contentEvents++
    if (this.contentEvents === 1) {
      this.firstContentUs = readUs
      this.contentReads = 1
    } else {
      const gapUs = readUs - this.lastContentUs
      if (gapUs > 0) this.contentReads++
      this.itlMaxUs = atLeast(this.itlMaxUs, gapUs)
      this.call.listener.onGap(gapUs)
    }
    this.lastContentUs = readUs
  }

  private done(): void {
    this.doneMarks++
    if (this.doneMarks === 1) this.doneUs = this.bench.readUs
  }

  /** The plain body was read whole; the reader holds what it said. */
  private onDocument(wellFormed: boolean): void {
    const { reply } = this.bench
    const bytes = reply.source
    const { endpoint, key } = this.request
    this.wellFormed = wellFormed
    if (!wellFormed) {
      // A body that may be empty, as that of a preflight, is not asked to be JSON.
      if (reply.badUtf8) this.flags |= flags.notUtf8
      else if (this.bytesIn > 0 || endpoint !== 'other') this.flags |= flags.notJson
    }
    const success = this.status >= 200 && this.status < 300
    const failed = reply.hasError || spanIs(bytes, reply.type, errorType)
    const completed = reply.choices >= 0 || reply.blocks >= 0
    if (failed) this.keepError(reply, bytes, this.bench.words, key)
    else if (!success) this.errorShape = 'other'
    if (endpoint === 'chat' || endpoint === 'messages') {
      this.keepReply(reply, bytes, this.bench.words, key)
      if (reply.choices >= 0) this.choices = reply.choices
      else if (reply.blocks >= 0) this.choices = reply.blocks
      if (success ? failed : completed) this.flags |= flags.bodyContradictsStatus
      if (endpoint === 'chat' ? reply.choices < 0 : reply.blocks < 0) this.wellFormed = false
    } else if (success && failed) this.flags |= flags.bodyContradictsStatus
    if (failed) this.wellFormed = false
  }

  private plainEnd(): End {
    const { trailing } = this.plain
    // A document with something behind it is none.
    if (trailing && this.status >= 200 && this.status < 300) this.flags |= flags.notJson
    return plainEnd(this.request, this.status, this.wellFormed && !trailing)
  }
}

function atLeast(value: number, other: number): number {
  return value >= other ? value : other
}
