import { flags } from '../attempt/flags.ts'
import type { End } from '../attempt/outcome.ts'
import type { Call } from './call.ts'
import { Capture, type Captured } from './capture.ts'
import type { DeadlineTimer } from './deadlines.ts'
import { broken, plainEnd, streamEnd } from './end.ts'
import { type EventNumbers, EventStream } from './event-stream.ts'
import { PlainBody } from './plain-body.ts'
import type { ReplyReader } from './reply.ts'
import type { PreparedRequest } from './request.ts'
import { ResponseFields } from './response-fields.ts'
import type { ResponseHead } from './response-head.ts'
import type { ResponseWords } from './response-words.ts'
import { spanIs } from './span.ts'
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
  readonly numbers: EventNumbers
  readonly captureBytes: number
  /** When the read came that is being handled: the stamp of all that it brought. */
  readUs: number
  /** Gives an attempt that nobody uses. */
  take(): Attempt
  /** Takes both back when the last callback has returned. */
  release(call: Call, attempt: Attempt): void
}

const errorType = Buffer.from('error')

/** Who reads a body: decided by its head. */
export interface BodyReader {
  onBody(bytes: Buffer, start: number, end: number): void
  /** When it was read last; NaN for one that puts its deadline off at each read. */
  readonly lastReadUs: number
}

/**
 * The answering half of an attempt: its fields are the response half of a row, by the names of the
 * columns. Numbers that are null in the row are NaN here. Its `Call` hands it what comes.
 *
 * Attempts are pooled: nothing is allocated for one but what a long event or a capture needs. What
 * each event of a stream counts is with its `EventStream` and comes here at the end.
 */
export class Attempt extends ResponseFields implements BodyReader {
  /** Null unless asked for. */
  captured: Captured | null = null
  request!: PreparedRequest

  private readonly bench: Bench
  private call!: Call
  private readonly plain: PlainBody
  private capture: Capture | null = null
  /** Made for the first stream that it reads, and kept. */
  private ownStream: EventStream | null = null
  /** The same while the body is a stream. */
  private stream: EventStream | null = null
  readonly lastReadUs = Number.NaN
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
    this.stream = null
    this.wellFormed = false
    this.plain.reset()
    this.call = call
    this.request = call.request
    this.dispatchedUs = call.dispatchedUs
    this.sentUs = call.sentUs
    this.flags = call.flags
  }

  /** @returns who reads the body */
  onHead(status: number, head: Buffer, start: number, end: number, lines: HeaderLines): BodyReader {
    const { captureChoice, listener } = this.call
    this.headersUs = this.bench.readUs
    this.status = status
    this.bench.head.read(head, lines, this)
    const success = status >= 200 && status < 300
    if (captureChoice === 'always' || (captureChoice === 'errors' && !success)) {
      this.capture = new Capture(this.request.key, this.bench.captureBytes, head, start, end)
    }
    if (success && (this.flags & flags.sseType) !== 0) {
      this.ownStream ??= new EventStream(this.bench, this)
      this.stream = this.ownStream
      this.stream.open(this.call, this.capture)
    }
    listener.onHead?.(this)
    if (this.request.abort?.at === 'after-headers') this.call.abort('after-headers')
    return this.stream ?? this
  }

  /** Of a body that is no stream. */
  onBody(bytes: Buffer, start: number, end: number): void {
    const { call } = this
    this.bytesIn += end - start
    this.capture?.add(bytes, start, end)
    if (end - start !== this.contentLength) call.armIdle()
    if (!this.plain.add(bytes, start, end, this.contentLength)) call.leave(broken('too-large'))
  }

  /** The exchange is over. @returns how it ended */
  onEnd(): End {
    this.closedUs = this.bench.readUs
    if (this.stream !== null) return streamEnd(this.request.streamed, this)
    this.doneUs = this.closedUs
    this.plain.end()
    return this.plainEnd()
  }

  /** Nothing more comes. */
  close(end: End): void {
    this.outcome = end.outcome
    this.reason = 'reason' in end ? end.reason : null
    if (Number.isNaN(this.closedUs)) this.closedUs = this.bench.now()
    this.stream?.writeTo(this)
    if (this.capture !== null) {
      this.captured = this.capture.finish()
      this.flags |= flags.captured
    }
  }

  /** A first event, or one that says what none before it said. */
  onNews(reply: ReplyReader, bytes: Buffer): void {
    this.keepReply(reply, bytes, this.bench.words, this.request.key)
    const choices = choicesOf(reply)
    if (choices >= 0) this.choices = atLeast(this.choices, choices)
  }

  onStreamError(reply: ReplyReader, bytes: Buffer): void {
    this.flags |= flags.errorInStream
    this.keepError(reply, bytes, this.bench.words, this.request.key)
  }

  onDone(): void {
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

/** How many choices an event tells of; -1 when it tells of none. */
export function choicesOf(reply: ReplyReader): number {
  return Math.max(reply.choices, reply.maxIndex >= 0 ? reply.maxIndex + 1 : -1)
}

function atLeast(value: number, other: number): number {
  return value >= other ? value : other
}
