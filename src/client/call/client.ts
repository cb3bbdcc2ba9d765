import type { Contract } from '../../contract/contract.ts'
import { usualOf } from '../../contract/usual.ts'
import { secrets } from '../../user/secrets/secrets.ts'
import { ResponseMemory } from '../bytes/memory.ts'
import { DocumentReader } from '../document/document.ts'
import { ResponseHead } from '../head/response-head.ts'
import { Attempt } from '../row/attempt.ts'
import type { AttemptContext, AttemptListener, CaptureChoice } from '../row/attempt-context.ts'
import { ResponseWords } from '../row/response-words.ts'
import { EventNumbers } from '../stream/event-numbers.ts'
import { PollTime } from '../wire/poll-time.ts'
import type { Transport } from '../wire/transport.ts'
import { Call } from './call.ts'
import { type Deadlines, DeadlineTimer } from './deadlines.ts'
import type { PreparedRequest } from './request.ts'

export interface ClientOptions {
  readonly transport: Transport
  readonly contract: Contract
  /** Microseconds since the run began; one monotonic clock for all threads of a run. */
  readonly now: () => number
  readonly deadlines: Deadlines
  /** Most bytes of a body in a capture. Default: 128 KiB, enough for a page of metrics. */
  readonly captureBytes?: number
  /** Memory of incomplete responses. Default: no bound. */
  readonly memory?: ResponseMemory
}

/** A running attempt. Do not use it after its `onEnd`. */
export type RunningAttempt = Pick<Call, 'abort' | 'dispatchedUs'>

/** Sends requests as one attempt each, over one transport, for one thread. */
export class AttemptClient {
  private readonly context: AttemptContext
  private readonly calls: Call[] = []
  private readonly attempts: Attempt[] = []

  constructor(options: ClientOptions) {
    this.context = {
      transport: options.transport,
      now: options.now,
      pollTime: new PollTime(options.now),
      timer: new DeadlineTimer(options.now, options.deadlines),
      head: new ResponseHead(options.contract),
      document: new DocumentReader(),
      words: new ResponseWords(secrets),
      numbers: new EventNumbers(),
      captureBytes: options.captureBytes ?? 128 * 1024,
      memory: options.memory ?? new ResponseMemory(),
      readUs: Number.NaN,
      take: () => this.attempts.pop() ?? new Attempt(this.context),
      release: (call, attempt) => {
        this.calls.push(call)
        this.attempts.push(attempt)
      },
    }
  }

  /** When bytes of a response last arrived; NaN before the first. */
  get readUs(): number {
    return this.context.readUs
  }

  /** Starts an attempt now. The listener is called later, never before this returns. */
  start(
    request: PreparedRequest,
    listener: AttemptListener,
    capture: CaptureChoice = 'errors',
  ): RunningAttempt {
    const call = this.calls.pop() ?? new Call(this.context)
    call.begin(request, listener, capture)
    return call
  }

  /** Ends its timer, which would hold its memory for as long as the longest deadline. No attempt may be running. */
  close(): void {
    this.context.timer.stop()
  }
}

/** The deadlines of the contract (§8.3); its read timeout also applies to the first byte. */
export function deadlinesOf(contract: Contract): Deadlines {
  const { connectMs, readMs, streamMs } = usualOf(contract).timeouts
  return {
    connectUs: connectMs * 1000,
    firstByteUs: readMs * 1000,
    idleUs: readMs * 1000,
    totalUs: Math.max(readMs, streamMs) * 1000,
  }
}
