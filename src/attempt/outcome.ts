/**
 * How an attempt ended. The counts of a run must add up:
 *
 *     planned = sent + not_sent          sent = ok + http_error + broken + timeout + aborted
 */
export const outcomes = ['ok', 'http_error', 'broken', 'timeout', 'aborted', 'not_sent'] as const
export type Outcome = (typeof outcomes)[number]

/** What the sending machine lacked when it opened a connection. */
export const localLimits = ['no-local-port', 'no-open-file', 'no-local-memory'] as const
export type LocalLimit = (typeof localLimits)[number]

/** Why a planned request was never sent. */
export type NotSentReason = 'max-in-flight' | 'deadline' | 'budget' | 'stopped' | LocalLimit

/** The deadline that passed. */
export type TimeoutReason = 'connect' | 'first-byte' | 'idle' | 'total'

/** The content codings of HTTP in use, and any other. */
export type Encoding = 'gzip' | 'deflate' | 'br' | 'zstd' | 'other'

/**
 * Why a response is unusable. A 2xx is a success only with a complete, well-formed body. A stream without its terminal
 * event is broken, whatever its status.
 */
export type BrokenReason =
  | 'connect-refused'
  | 'connect-failed'
  | 'tls'
  | 'reset'
  | 'closed-early'
  | 'protocol'
  | 'too-large'
  /** The memory limit for responses was reached. The fault is the client's. */
  | 'no-memory'
  /** undici gave up without a reason. */
  | 'unparsable'
  | 'no-done'
  | 'malformed-body'
  /** Arrays and objects are nested deeper than the reader follows. */
  | 'too-deep'
  /** Compressed, although the request accepts only `identity`. */
  | `content-encoding-${Encoding}`
  | 'error-in-stream'
  | 'unexpected-content-type'

/** A discriminated union: an impossible pair of outcome and reason does not compile. */
export type End =
  | { readonly outcome: 'ok' }
  | { readonly outcome: 'http_error' }
  | { readonly outcome: 'broken'; readonly reason: BrokenReason }
  | { readonly outcome: 'timeout'; readonly reason: TimeoutReason }
  /** The client aborted on purpose. The reason names the point of the stream. */
  | { readonly outcome: 'aborted'; readonly reason: string }
  | { readonly outcome: 'not_sent'; readonly reason: NotSentReason }

/**
 * Whether the service charged for the attempt, as far as the client can know. `applied`: it must have charged.
 * `not-applied`: it must not. `ambiguous`: it may have charged at any time after the request was sent (Jepsen calls
 * such an operation `:info`).
 */
export type Effect = 'applied' | 'not-applied' | 'ambiguous'

/** @param sent whether the socket carried the request (`sentUs` is not null) */
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
