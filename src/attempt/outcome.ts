/**
 * How an attempt ended. The counts of a run must add up:
 *
 *     planned = sent + not_sent          sent = ok + http_error + broken + timeout + aborted
 */
export const outcomes = ['ok', 'http_error', 'broken', 'timeout', 'aborted', 'not_sent'] as const
export type Outcome = (typeof outcomes)[number]

/** What the sending machine ran out of before a connection was made. */
export const localLimits = ['no-local-port', 'no-open-file', 'no-local-memory'] as const
export type LocalLimit = (typeof localLimits)[number]

/** Why a planned request was never sent. */
export type NotSentReason = 'max-in-flight' | 'deadline' | 'budget' | 'stopped' | LocalLimit

/** Which of the four deadlines passed. */
export type TimeoutReason = 'connect' | 'first-byte' | 'idle' | 'total'

/** How a body may be compressed: the codings of HTTP that are in use, and any other. */
export type Encoding = 'gzip' | 'deflate' | 'br' | 'zstd' | 'other'

/**
 * Why a response cannot be believed. A 2xx is a success only with a whole, well-formed body:
 * a stream without its terminal event is broken, whatever its status says.
 */
export type BrokenReason =
  | 'connect-refused'
  | 'connect-failed'
  | 'tls'
  | 'reset'
  | 'closed-early'
  | 'protocol'
  | 'too-large'
  /** The memory that answers may hold was full; the fault is the client's. */
  | 'no-memory'
  /** undici gave up, and does not say what it could not read. */
  | 'unparsable'
  | 'no-done'
  | 'malformed-body'
  /** Arrays and objects inside each other beyond what the reader follows. */
  | 'too-deep'
  /** Compressed, although only `identity` was accepted. */
  | `content-encoding-${Encoding}`
  | 'error-in-stream'
  | 'unexpected-content-type'

/** A discriminated end, so that an impossible mix of outcome and reason does not compile. */
export type End =
  | { readonly outcome: 'ok' }
  | { readonly outcome: 'http_error' }
  | { readonly outcome: 'broken'; readonly reason: BrokenReason }
  | { readonly outcome: 'timeout'; readonly reason: TimeoutReason }
  /** The client left on purpose; the reason names the point of the stream. */
  | { readonly outcome: 'aborted'; readonly reason: string }
  | { readonly outcome: 'not_sent'; readonly reason: NotSentReason }

/**
 * Whether the service may have charged for the attempt, as far as the client can know:
 * `applied` must have been charged, `not-applied` must not, `ambiguous` may have been at any
 * moment after it was sent (Jepsen calls such an operation `:info`).
 */
export type Effect = 'applied' | 'not-applied' | 'ambiguous'

/** @param sent whether the socket ever carried the request (`sentUs` is not null) */
export function effectOf(outcome: Outcome, sent: boolean): Effect {
  switch (outcome) {
    case 'ok':
      return 'applied'
    case 'http_error':
    case 'not_sent':
      return 'not-applied'
    case 'broken':
    case 'timeout':
    case 'aborted':
      return sent ? 'ambiguous' : 'not-applied'
  }
}
