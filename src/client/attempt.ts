import { flags } from '../attempt/flags.ts'
import type { End, TimeoutReason } from '../attempt/outcome.ts'
import { Capture, type Captured } from './capture.ts'
import { type Armed, type DeadlineTimer, disarmed } from './deadlines.ts'
import { broken, plainEnd, streamEnd } from './end.ts'
import { PlainBody } from './plain-body.ts'
import type { ReplyReader } from './reply.ts'
import type { PreparedRequest } from './request.ts'
import { ResponseFields } from './response-fields.ts'
import type { ResponseHead } from './response-head.ts'
import type { ResponseWords } from './response-words.ts'
import { isWord, spanIs } from './span.ts'
import { SseDecoder } from './sse.ts'
import type { Exchange, ExchangeSink, Failure, HeaderLines, Transport } from './transport.ts'

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
  /** Takes an attempt back when its last callback has returned. */
  release(attempt: Attempt): void
}

const doneEvent = Buffer.from('[DONE]')
const messageStop = Buffer.from('message_stop')
const errorType = Buffer.from('error')

/** How the body is read: decided by its head. */
type Mode = 'none' | 'plain' | 'stream'

/**
 * One attempt on the wire: it receives one exchange, and its fields are the response half of a row,
 * by the names of the columns. Numbers that are null in the row are NaN here.
 *
 *     begin ─▶ onSent ─▶ onHead ─▶ onBody* ─▶ onEnd      each step arms the next deadline;
 *       └─ connect ─┴ first byte ┴── idle ──┘            abort points leave where they stand
 *
 * Attempts are pooled: nothing is allocated for one but what a long event or a capture needs.
 */
export class Attempt extends ResponseFields implements ExchangeSink {
  /** Null unless asked for. */
  captured: Captured | null = null
  request!: PreparedRequest

  private readonly bench: Bench
  private listener!: AttemptListener
  private captureChoice: CaptureChoice = 'never'
  private exchange: Exchange | null = null
  private readonly stage: Armed
  private readonly total: Armed
  private readonly plain: PlainBody
  private decoder: SseDecoder | null = null
  private capture: Capture | null = null
  private mode: Mode = 'none'
  /** Of the body, as the head says; NaN when it does not. */
  contentLength = Number.NaN
  private wellFormed = false
  /** Cancels the abort point that waits for its time. */
  private cancelAbort: (() => void) | null = null
  private ended = true
  /** Inside a callback that still holds our state: not to be used again before it returns. */
  private busy = false
  /** When the read came that is being handled: the stamp of all that it brought. */
  readUs = Number.NaN

  constructor(bench: Bench) {
    super()
    this.bench = bench
    const onDeadline = (reason: TimeoutReason) => this.leave({ outcome: 'timeout', reason })
    this.stage = disarmed(onDeadline)
    this.total = disarmed(onDeadline)
    this.plain = new PlainBody(bench.reply, (wellFormed) => this.onDocument(wellFormed))
  }

  begin(request: PreparedRequest, listener: AttemptListener, capture: CaptureChoice): void {
    this.reset()
    this.request = request
    this.listener = listener
    this.captureChoice = capture
    this.ended = false
    const { timer, transport } = this.bench
    const nowUs = this.bench.now()
    this.dispatchedUs = nowUs
    timer.arm(this.total, 'total', nowUs)
    this.exchange = transport.dispatch(request.wire, this)
    // Most find an idle connection, and are sent by now.
    if (Number.isNaN(this.sentUs)) timer.arm(this.stage, 'connect', nowUs)
  }

  /** Leaves it now; `onEnd` comes during the call, with the outcome `aborted`. */
  abort(reason: string): void {
    if (!this.ended) this.leave({ outcome: 'aborted', reason })
  }

  onSent(reusedConnection: boolean): void {
    // Sent during the dispatch is sent at the dispatch: there was nothing to wait for.
    const nowUs = this.exchange === null ? this.dispatchedUs : this.bench.now()
    this.sentUs = nowUs
    if (reusedConnection) this.flags |= flags.reusedConnection
    this.bench.timer.arm(this.stage, 'first-byte', nowUs)
    const { abort } = this.request
    if (abort === null) return
    // The write follows this call, so even the earliest point comes one turn later.
    if (abort.at === 'before-headers') {
      const immediate = setImmediate(() => this.abort('before-headers'))
      this.cancelAbort = () => clearImmediate(immediate)
    } else if (abort.at === 'after-us') this.abortAt(nowUs + abort.us)
  }

  onRead(): void {
    this.readUs = this.bench.now()
  }

  onHead(status: number, head: Buffer, start: number, end: number, lines: HeaderLines): void {
    this.headersUs = this.readUs
    this.status = status
    this.bench.timer.arm(this.stage, 'idle', this.readUs)
    this.bench.head.read(head, lines, this)
    const success = status >= 200 && status < 300
    this.mode = success && (this.flags & flags.sseType) !== 0 ? 'stream' : 'plain'
    if (this.captureChoice === 'always' || (this.captureChoice === 'errors' && !success)) {
      this.capture = new Capture(this.request.key, this.bench.captureBytes, head, start, end)
    }
    this.busy = true
    this.listener.onHead?.(this)
    if (this.request.abort?.at === 'after-headers') this.abort('after-headers')
    this.settle()
  }

  onBody(bytes: Buffer, start: number, end: number): void {
    if (this.ended) return
    this.bytesIn += end - start
    this.capture?.add(bytes, start, end)
    this.busy = true
    if (this.mode === 'plain') {
      if (end - start !== this.contentLength) {
        this.bench.timer.arm(this.stage, 'idle', this.readUs)
      }
      if (!this.plain.add(bytes, start, end, this.contentLength)) this.leave(broken('too-large'))
    } else {
      this.bench.timer.arm(this.stage, 'idle', this.readUs)
      this.decoder ??= new SseDecoder(this)
      if (!this.decoder.feed(bytes, start, end)) this.leave(broken('too-large'))
    }
    this.settle()
  }

  onEnd(): void {
    if (this.ended) return
    this.closedUs = this.readUs
    this.busy = true
    if (this.mode === 'plain') {
      this.doneUs = this.closedUs
      this.plain.end()
    }
    this.finish(this.mode === 'plain' ? this.plainEnd() : streamEnd(this.request.streamed, this))
    this.settle()
  }

  onFailure(failure: Failure): void {
    if (this.ended) return
    this.busy = true
    switch (failure.code) {
      case 'aborted':
        this.finish({ outcome: 'aborted', reason: 'stopped' })
        break
      case 'connect-timeout':
        this.finish({ outcome: 'timeout', reason: 'connect' })
        break
      default:
        this.finish(broken(failure.code))
    }
    this.settle()
  }

  /** An event of the stream. */
  onEvent(bytes: Buffer, start: number, end: number): void {
    if (this.ended) return
    this.events++
    if (this.events === 1) this.firstEventUs = this.readUs
    if (this.doneMarks > 0) this.flags |= flags.afterDone
    this.listener.onEvent?.(this, bytes, start, end)
    if (isWord(bytes, start, end, doneEvent)) this.done()
    else this.onChunk(bytes, start, end)
    const { abort } = this.request
    if (abort === null || this.ended) return
    if (abort.at === 'first-event') this.abort('first-event')
    else if (abort.at === 'after-events') {
      if (this.events >= abort.events) this.abort('after-events')
    } else if (abort.at === 'before-done') {
      // The last chunk before the end says why generation ended; the end itself is too late, but
      // a stream without such a chunk is left there all the same.
      if (this.finishReason !== null || this.doneMarks > 0) this.abort('before-done')
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
    const { readUs } = this
    this.contentEvents++
    if (this.contentEvents === 1) {
      this.firstContentUs = readUs
      this.contentReads = 1
    } else {
      const gapUs = readUs - this.lastContentUs
      if (gapUs > 0) this.contentReads++
      this.itlMaxUs = atLeast(this.itlMaxUs, gapUs)
      this.listener.onGap(gapUs)
    }
    this.lastContentUs = readUs
  }

  private done(): void {
    this.doneMarks++
    if (this.doneMarks === 1) this.doneUs = this.readUs
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

  private abortAt(dueUs: number): void {
    const leftUs = dueUs - this.bench.now()
    if (leftUs <= 0) {
      this.abort('after-us')
      return
    }
    const timeout = setTimeout(() => this.abortAt(dueUs), Math.ceil(leftUs / 1000))
    this.cancelAbort = () => clearTimeout(timeout)
  }

  /** Ends it from our side: the connection is of no use any more. */
  private leave(end: End): void {
    if (this.ended) return
    const { exchange } = this
    this.ended = true
    exchange?.abort()
    this.ended = false
    this.finish(end)
  }

  private finish(end: End): void {
    this.ended = true
    this.exchange = null
    const { timer } = this.bench
    timer.disarm(this.stage)
    timer.disarm(this.total)
    this.cancelAbort?.()
    this.outcome = end.outcome
    this.reason = 'reason' in end ? end.reason : null
    if (Number.isNaN(this.closedUs)) this.closedUs = this.bench.now()
    if (this.capture !== null) {
      this.captured = this.capture.finish()
      this.flags |= flags.captured
    }
    this.listener.onEnd(this)
    if (!this.busy) this.bench.release(this)
  }

  /** The last thing of every callback. */
  private settle(): void {
    this.busy = false
    if (this.ended) this.bench.release(this)
  }

  private reset(): void {
    this.clear()
    this.captured = null
    this.capture = null
    this.mode = 'none'
    this.wellFormed = false
    this.cancelAbort = null
    this.plain.reset()
    this.decoder?.reset()
  }
}

function atLeast(value: number, other: number): number {
  return value >= other ? value : other
}
