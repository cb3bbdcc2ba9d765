import { flags } from '../../attempt/flags.ts'
import type { Encoding, End } from '../../attempt/outcome.ts'
import { takesPrompt } from '../../contract/request.ts'
import type { Call } from '../call/call.ts'
import { broken, plainEnd, streamEnd } from '../call/end.ts'
import type { PreparedRequest } from '../call/request.ts'
import { PlainBody } from '../document/plain-body.ts'
import { EventStream } from '../stream/event-stream.ts'
import type { HeaderLines } from '../wire/transport.ts'
import type { AttemptContext, BodyReader } from './attempt-context.ts'
import { Capture, type Captured, type RawBody } from './capture.ts'
import { ResponseFields } from './response-fields.ts'

/** Tokens that an answer may have without text: its end, and the marks of a tool call. */
const markTokens = 16

/**
 * The response half of an attempt, which its `Call` passes to it. Fields are columns of the row, NaN for null. Pooled: only a
 * long event or a capture allocates. A stream is read by an `EventStream`, which gives one result at the end.
 */
export class Attempt extends ResponseFields implements BodyReader {
  /** Null unless requested. */
  captured: Captured | null = null
  /** Null unless everything is captured, or `raw` was requested and it is a 2xx. */
  rawBody: RawBody | null = null
  request!: PreparedRequest

  private readonly context: AttemptContext
  private call!: Call
  private readonly plain: PlainBody
  private capture: Capture | null = null
  /** Created for the first stream, and reused. */
  private ownStream: EventStream | null = null
  /** The same, until its result is taken. */
  private stream: EventStream | null = null
  readonly lastReadUs = Number.NaN
  contentLength = Number.NaN
  /** Content-Encoding; null for none. */
  encoding: Encoding | null = null
  /** When its last bytes arrived, or it was given up. */
  endedUs = Number.NaN
  private wellFormed = false
  /** Whether the body is an error. */
  private failed = false
  private hasText = false

  constructor(context: AttemptContext) {
    super()
    this.context = context
    this.plain = new PlainBody(context.document, context.memory, (wellFormed) =>
      this.onDocument(wellFormed),
    )
  }

  /** Time of the read that is being handled. */
  get readUs(): number {
    return this.context.readUs
  }

  /** Starts again for a call that was sent or failed. */
  open(call: Call): void {
    this.clear()
    this.captured = null
    this.rawBody = null
    this.capture = null
    this.stream = null
    this.wellFormed = false
    this.failed = false
    this.hasText = false
    this.endedUs = Number.NaN
    this.call = call
    this.request = call.request
    this.dispatchedUs = call.dispatchedUs
    this.sentUs = call.sentUs
    this.flags = call.flags
  }

  /** @returns the reader of the body */
  onHead(status: number, head: Buffer, start: number, end: number, lines: HeaderLines): BodyReader {
    const { captureChoice, listener } = this.call
    this.headersUs = this.context.readUs
    this.status = status
    this.context.head.read(head, lines, this)
    const success = status >= 200 && status < 300
    const isWhole = captureChoice === 'always' || captureChoice === 'raw'
    if (isWhole || (captureChoice === 'errors' && !success)) {
      this.capture = new Capture(
        this.context.words.secrets,
        this.context.captureBytes,
        this.context.memory,
        head,
        start,
        end,
      )
    }
    if (success && (this.flags & flags.sseType) !== 0) {
      this.ownStream ??= new EventStream(this.context)
      this.stream = this.ownStream
      this.stream.open(this.call, this.capture)
    }
    listener.onHead?.(this)
    if (this.request.abort?.at === 'after-headers') this.call.abort('after-headers')
    return this.stream ?? this
  }

  /** A piece of a body that is not a stream. */
  onBody(bytes: Buffer, start: number, end: number): void {
    const { call } = this
    this.bytesIn += end - start
    this.capture?.add(bytes, start, end)
    if (end - start !== this.contentLength) call.armIdle()
    const issue = this.plain.add(bytes, start, end, this.contentLength)
    if (issue !== null) call.leave(broken(issue))
  }

  /** The exchange is over. @returns how it ended */
  onEnd(): End {
    this.endedUs = this.context.readUs
    if (this.stream !== null) {
      this.stream.end()
      this.take(this.stream)
      return streamEnd(this.request, this)
    }
    this.doneUs = this.endedUs
    return this.plain.end() ? this.plainEnd() : broken('no-memory')
  }

  /** The end of a stream that has said its own while its body is open; null if it has not. */
  endUnclosed(): End | null {
    if (this.stream === null || !this.stream.isDone) return null
    const end = this.onEnd()
    return end.outcome === 'ok' ? { outcome: 'ok', reason: 'not-closed' } : end
  }

  /** Whether tokens were counted and not streamed, other than reasoning with its own count: fewer bytes than tokens, or reasoning alone. */
  private get isInPart(): boolean {
    const { completionTokens, reasoningTokens, hasThought, textBytes, thoughtBytes } = this
    const isHidden = (this.flags & flags.reasoning) === 0
    if (isHidden && hasThought && Number.isNaN(reasoningTokens)) return true
    if (thoughtBytes > 0 && reasoningTokens > thoughtBytes + markTokens) return true
    const hidden = isHidden && reasoningTokens > 0 ? reasoningTokens : 0
    return completionTokens - hidden > textBytes + markTokens
  }

  /** Fills the remaining fields at the end. */
  close(end: End): void {
    this.outcome = end.outcome
    this.reason = 'reason' in end ? (end.reason ?? null) : null
    // A later time than `endedUs`: a request sent before it may not have followed this response.
    this.closedUs = this.context.now()
    if (Number.isNaN(this.endedUs)) this.endedUs = this.closedUs
    // A stream that was aborted or broke off counts up to that point.
    if (this.stream !== null) this.take(this.stream)
    this.usage.fill(this, this.request.endpoint, this.hasText || this.contentEvents > 0)
    if (this.contentEvents > 0 && this.isInPart) this.flags |= flags.textInPart
    if (end.outcome === 'broken' && end.reason === 'no-memory') this.context.memory.givenUp++
    if (this.capture === null) return
    const { captureChoice } = this.call
    const success = this.status >= 200 && this.status < 300
    if (captureChoice === 'raw' && success) this.rawBody = this.capture.raw(this.encoding)
    else {
      this.captured = this.capture.finish(this.encoding)
      this.flags |= flags.captured
    }
  }

  /** Frees memory for the next attempt. */
  letGo(): void {
    this.plain.reset()
    this.capture?.drop()
    this.ownStream?.letGo()
  }

  /** Takes the result of a stream that is over. */
  private take(stream: EventStream): void {
    this.takeDocument(stream.result())
    this.stream = null
  }

  /** The plain body was read whole; `context.document` holds its fields. */
  private onDocument(wellFormed: boolean): void {
    const { document } = this.context
    const bytes = document.source
    const { endpoint } = this.request
    this.wellFormed = wellFormed
    if (!wellFormed) {
      // An empty body of the endpoint `other`, such as that of a preflight, need not be JSON.
      if (this.bytesIn > 0 || endpoint !== 'other') this.keepUnread(document)
    }
    const success = this.status >= 200 && this.status < 300
    const failed = document.isError || (takesPrompt(endpoint) && document.isComplaint)
    const completed = document.choices >= 0 || document.blocks >= 0
    if (failed) this.keepError(document, bytes, this.context.words)
    else if (!success) this.errorShape = 'other'
    if (takesPrompt(endpoint)) {
      this.keepDocument(document, bytes, this.context.words)
      if (document.choices >= 0) this.choices = document.choices
      else if (document.blocks >= 0 && endpoint !== 'responses') this.choices = document.blocks
      if (success ? failed : completed) this.flags |= flags.bodyContradictsStatus
      if (endpoint === 'chat' ? document.choices < 0 : document.blocks < 0) this.wellFormed = false
      this.endsOpen =
        this.finishReason === null || (document.choiceBits & ~document.endedBits) !== 0
      this.otherFailed = document.otherFailed
      this.hasText = document.hasText
    } else if (success && failed) this.flags |= flags.bodyContradictsStatus
    this.failed = failed
  }

  private plainEnd(): End {
    const { trailing } = this.plain
    // A document followed by other bytes is not JSON.
    if (trailing && this.status >= 200 && this.status < 300) this.flags |= flags.notJson
    return plainEnd(this.request, this, {
      whole: this.wellFormed && !trailing,
      failed: this.failed,
    })
  }
}
