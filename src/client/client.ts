import type { Batch, Words } from '../attempt/batch.ts'
import type { Contract } from '../contract/contract.ts'
import type { ResponseColumns } from './columns.ts'
import type { PreparedRequest } from './request.ts'
import type { Transport } from './transport.ts'

/** The four deadlines of an attempt, in microseconds; Infinity for none. */
export interface Deadlines {
  /** From dispatch until the socket carries the request: pool wait, name lookup, connecting, TLS. */
  readonly connectUs: number
  /** From then until the response head is complete. */
  readonly firstByteUs: number
  /** Between two reads of the body. */
  readonly idleUs: number
  /** From dispatch to the end. */
  readonly totalUs: number
}

export interface ClientOptions {
  readonly transport: Transport
  readonly contract: Contract
  /** Microseconds since the run began; one monotonic clock for all threads of a run. */
  readonly now: () => number
  readonly deadlines: Deadlines
  /** Most bytes of a body that a capture keeps; 64 KiB unless given. */
  readonly captureBytes?: number
}

/** Which responses to keep word for word; `errors` are all that are not 2xx. */
export type CaptureChoice = 'always' | 'errors' | 'never'

/** Told about one attempt while it runs. */
export interface AttemptListener {
  /** A content event came `gapUs` after the one before it in the same stream (0: same read). */
  onGap(gapUs: number): void
  /** It is over. The attempt is used again once this returns: copy what you need. */
  onEnd(attempt: EndedAttempt): void
}

/** What came back, word for word except for the key. */
export interface Captured {
  /** Header lines as they came, `name: value` separated by \n. */
  readonly headers: string
  readonly body: string
  readonly truncated: boolean
}

/** A running attempt. Not to be used after `onEnd`. */
export interface RunningAttempt {
  /** Leaves it now; `onEnd` comes during the call, outcome `aborted`. */
  abort(reason: string): void
}

/** An attempt at its end: the response half of a row. */
export interface EndedAttempt {
  /** Columns by name; a number that is null in the row is NaN here. */
  readonly outcome: ResponseColumns['outcome']
  readonly reason: string | null
  /** NaN when no response head came. */
  readonly status: number
  readonly dispatchedUs: number
  readonly sentUs: number
  readonly firstContentUs: number
  readonly doneUs: number
  readonly closedUs: number
  readonly creditsRemaining: number
  readonly rateLimit: number
  readonly rateRemaining: number
  readonly errorCode: string | null
  readonly errorType: string | null
  readonly contentEvents: number
  readonly completionTokens: number
  readonly flags: number
  /** Null unless asked for. */
  readonly captured: Captured | null
  /** Writes the response half into row `batch.rows`; the caller fills the rest and adds the row. */
  writeTo(batch: Batch, words: Words): void
  /** The response half as an object, for probes and tests. */
  toColumns(): ResponseColumns
}

/** Sends requests one attempt each, over one transport, for one thread. */
export interface AttemptClient {
  /**
   * Starts an attempt now. The listener hears of it later, never during the call.
   *
   * @param capture `errors` unless given
   */
  start(
    request: PreparedRequest,
    listener: AttemptListener,
    capture?: CaptureChoice,
  ): RunningAttempt
}
