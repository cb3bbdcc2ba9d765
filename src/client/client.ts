import type { Contract } from '../contract/contract.ts'
import { Attempt } from './attempt.ts'
import type { AttemptListener, Bench, CaptureChoice } from './bench.ts'
import { Call } from './call.ts'
import { type Deadlines, DeadlineTimer } from './deadlines.ts'
import { DocumentReader } from './document.ts'
import { EventNumbers } from './event-stream.ts'
import { AnswerMemory } from './memory.ts'
import type { PreparedRequest } from './request.ts'
import { ResponseHead } from './response-head.ts'
import { ResponseWords } from './response-words.ts'
import type { Transport } from './transport.ts'

export interface ClientOptions {
  readonly transport: Transport
  readonly contract: Contract
  /** Microseconds since the run began; one monotonic clock for all threads of a run. */
  readonly now: () => number
  readonly deadlines: Deadlines
  /** Most bytes of a body that a capture keeps; 128 KiB unless given: a page of figures fits. */
  readonly captureBytes?: number
  /** For what is read and not whole; without a bound unless given. */
  readonly memory?: AnswerMemory
}

/** A running attempt; not to be used after its `onEnd`. */
export type RunningAttempt = Pick<Call, 'abort' | 'dispatchedUs'>

/** Sends requests, one attempt each, over one transport, for one thread. */
export class AttemptClient {
  private readonly bench: Bench
  private readonly calls: Call[] = []
  private readonly attempts: Attempt[] = []

  constructor(options: ClientOptions) {
    this.bench = {
      transport: options.transport,
      now: options.now,
      timer: new DeadlineTimer(options.now, options.deadlines),
      head: new ResponseHead(options.contract),
      document: new DocumentReader(),
      words: new ResponseWords(),
      numbers: new EventNumbers(),
      captureBytes: options.captureBytes ?? 128 * 1024,
      memory: options.memory ?? new AnswerMemory(),
      readUs: Number.NaN,
      take: () => this.attempts.pop() ?? new Attempt(this.bench),
      release: (call, attempt) => {
        this.calls.push(call)
        this.attempts.push(attempt)
      },
    }
  }

  /** When a socket last gave bytes of a response; NaN before the first. */
  get readUs(): number {
    return this.bench.readUs
  }

  /** Starts an attempt now. The listener hears of it later, never during the call. */
  start(
    request: PreparedRequest,
    listener: AttemptListener,
    capture: CaptureChoice = 'errors',
  ): RunningAttempt {
    const call = this.calls.pop() ?? new Call(this.bench)
    call.begin(request, listener, capture)
    return call
  }
}

/** The deadlines that the contract states (§8.3): its read timeout holds for the first byte too. */
export function deadlinesOf(contract: Contract): Deadlines {
  const { connectMs, readMs, streamMs } = contract.timeouts
  return {
    connectUs: connectMs * 1000,
    firstByteUs: readMs * 1000,
    idleUs: readMs * 1000,
    totalUs: Math.max(readMs, streamMs) * 1000,
  }
}
