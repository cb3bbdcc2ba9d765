import { flags } from '../../attempt/flags.ts'
import type { End } from '../../attempt/outcome.ts'
import type { Attempt } from '../row/attempt.ts'
import type {
  AttemptContext,
  AttemptListener,
  BodyReader,
  CaptureChoice,
} from '../row/attempt-context.ts'
import type { Failure, HeaderLines, WireExchange, WireSink } from '../wire/transport.ts'
import { type Armed, disarmed, type Stage } from './deadlines.ts'
import { broken } from './end.ts'
import type { PreparedRequest } from './request.ts'

/**
 * The request half of an attempt: its request on the wire, its deadlines and its abort point.
 *
 *     begin ─▶ onSent ─▶ onHead ─▶ onBody* ─▶ onEnd      each step arms the next deadline
 *       └─ connect ─┴ first byte ┴── idle ──┘
 *
 * It is small, because thousands wait at a time, outside the processor's caches. A response is read into
 * an `Attempt`, which is taken at its head. Responses that arrive in one read, as most do, all take the
 * same `Attempt`, which stays cached.
 */
export class Call implements WireSink {
  // Fields that each read uses come first, so that they share a cache line.
  private readonly context: AttemptContext
  listener!: AttemptListener
  private body: BodyReader | null = null
  ended = true
  /** Inside a callback that still uses this call, so it may not be reused before it returns. */
  private busy = false
  request!: PreparedRequest
  captureChoice: CaptureChoice = 'never'
  dispatchedUs = Number.NaN
  sentUs = Number.NaN
  flags = 0
  private exchange: WireExchange | null = null
  private attempt: Attempt | null = null
  private readonly stage: Armed
  private readonly total: Armed
  /** Cancels a pending abort point. */
  private cancelAbort: (() => void) | null = null

  constructor(context: AttemptContext) {
    this.context = context
    const onDeadline = (reason: Stage) => {
      if (reason === 'idle' && this.putsOffIdle()) return
      const end = this.attempt?.endUnclosed() ?? null
      if (end !== null) this.leave(end)
      else if (reason !== 'close') this.leave({ outcome: 'timeout', reason })
    }
    this.stage = disarmed(onDeadline)
    this.total = disarmed(onDeadline)
  }

  begin(request: PreparedRequest, listener: AttemptListener, capture: CaptureChoice): void {
    this.request = request
    this.listener = listener
    this.captureChoice = capture
    this.sentUs = Number.NaN
    this.flags = 0
    this.ended = false
    const { timer, transport } = this.context
    const nowUs = this.context.now()
    this.dispatchedUs = nowUs
    timer.arm(this.total, 'total', nowUs)
    this.exchange = transport.dispatch(request.wire, this)
    // Most requests find an idle connection and are already sent.
    if (Number.isNaN(this.sentUs)) timer.arm(this.stage, 'connect', nowUs)
  }

  /** Ends it now; `onEnd` is called before this returns, with the outcome `aborted`. */
  abort(reason: string): void {
    if (!this.ended) this.leave({ outcome: 'aborted', reason })
  }

  onSent(reusedConnection: boolean): void {
    // If sent during the dispatch, nothing was waited for, so both times are equal.
    const nowUs = this.exchange === null ? this.dispatchedUs : this.context.now()
    this.sentUs = nowUs
    if (reusedConnection) this.flags |= flags.reusedConnection
    this.context.timer.arm(this.stage, 'first-byte', nowUs)
    const { abort } = this.request
    if (abort === null) return
    // The write follows this call, so even the earliest abort point is one turn later.
    if (abort.at === 'before-headers') {
      const immediate = setImmediate(() => this.abort('before-headers'))
      this.cancelAbort = () => clearImmediate(immediate)
    } else if (abort.at === 'after-us') this.abortAt(nowUs + abort.us)
  }

  onRead(isContinued = false): void {
    const { context } = this
    context.readUs = isContinued ? context.now() : context.pollTime.of(this.sentUs)
  }

  onHead(status: number, head: Buffer, start: number, end: number, lines: HeaderLines): void {
    this.armIdle()
    const attempt = this.taken()
    this.busy = true
    this.body = attempt.onHead(status, head, start, end, lines)
    this.settle()
  }

  onBody(bytes: Buffer, start: number, end: number): void {
    if (this.ended) return
    this.busy = true
    this.body!.onBody(bytes, start, end)
    this.settle()
  }

  onEnd(): void {
    if (this.ended) return
    this.busy = true
    this.finish(this.attempt!.onEnd())
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
      case 'no-local-port':
      case 'no-open-file':
      case 'no-local-memory':
        this.finish({ outcome: 'not_sent', reason: failure.code })
        break
      default:
        this.finish(broken(failure.code))
    }
    this.settle()
  }

  /** Restarts the deadline between reads at the read that is being handled. */
  armIdle(): void {
    this.context.timer.arm(this.stage, 'idle', this.context.readUs)
  }

  /** The stream has said its end: what is left is that its body ends, which is soon. */
  onLast(): void {
    this.context.timer.arm(this.stage, 'close', this.context.readUs)
  }

  /** Re-arms the idle deadline if a stream was read since, because arming it at each read is too slow. */
  private putsOffIdle(): boolean {
    const { timer, now } = this.context
    const lastReadUs = this.body?.lastReadUs ?? Number.NaN
    const nowUs = now()
    if (!(lastReadUs + timer.lengthUs('idle') > nowUs)) return false
    timer.arm(this.stage, 'idle', lastReadUs, nowUs)
    return true
  }

  /** Ends it from our side, and closes the connection. */
  leave(end: End): void {
    if (this.ended) return
    const { exchange } = this
    this.ended = true
    exchange?.abort()
    this.ended = false
    this.finish(end)
  }

  private abortAt(dueUs: number): void {
    const { now } = this.context
    // Never at once: if it is sent during its dispatch, there is no exchange to abort yet.
    const timeout = setTimeout(
      () => (now() < dueUs ? this.abortAt(dueUs) : this.abort('after-us')),
      Math.max(Math.ceil((dueUs - now()) / 1000), 1),
    )
    this.cancelAbort = () => clearTimeout(timeout)
  }

  private taken(): Attempt {
    if (this.attempt === null) {
      this.attempt = this.context.take()
      this.attempt.open(this)
    }
    return this.attempt
  }

  private finish(end: End): void {
    this.ended = true
    this.exchange = null
    const { timer } = this.context
    timer.disarm(this.stage)
    timer.disarm(this.total)
    this.cancelAbort?.()
    this.cancelAbort = null
    const attempt = this.taken()
    attempt.close(end)
    this.listener.onEnd(attempt)
    if (!this.busy) this.release()
  }

  /** Every callback ends with this. */
  private settle(): void {
    this.busy = false
    if (this.ended) this.release()
  }

  private release(): void {
    const { attempt } = this
    this.attempt = null
    this.body = null
    if (attempt === null) return
    attempt.letGo()
    this.context.release(this, attempt)
  }
}
