/**
 * How an attempt ended. The counts of a run must add up:
 *
 *     planned = sent + not_sent          sent = ok + http_error + broken + timeout + aborted
 */
export const outcomes = ['ok', 'http_error', 'broken', 'timeout', 'aborted', 'not_sent'] as const
export type Outcome = (typeof outcomes)[number]

/** How a task ended. `stopped` says nothing of the service. */
export const taskOutcomes = ['ok', 'failed', 'deadline', 'stopped'] as const
export type TaskOutcome = (typeof taskOutcomes)[number]

/** What the answer of a success may lack: the expectation of its step that it does not hold, in the order of checking. */
export const lacks = ['exact', 'contains', 'tokens', 'matches', 'json', 'tool', 'check'] as const
export type Lack = (typeof lacks)[number]
/** How an answer was judged by what it says: the column `answer`. An unchecked one is neither correct nor wrong. */
export type AnswerJudgement = 'correct' | 'unchecked' | Lack
export const answerJudgements: readonly AnswerJudgement[] = ['correct', 'unchecked', ...lacks]

/** Resources that the sending machine can run out of before it connects. */
export const localLimits = ['no-local-port', 'no-open-file', 'no-local-memory'] as const
export type LocalLimit = (typeof localLimits)[number]

/** Why a planned request was never sent. */
export type NotSentReason = 'max-in-flight' | 'deadline' | 'budget' | 'stopped' | LocalLimit

/** The deadline that passed. */
export type TimeoutReason = 'connect' | 'first-byte' | 'idle' | 'total'

/** Content codings of HTTP. */
export type Encoding = 'gzip' | 'deflate' | 'br' | 'zstd' | 'other'

/**
 * Why a response is broken. A 2xx is a success only with a complete, well-formed body without an error, in
 * which each text ends with a reason. A stream without its terminal event is broken.
 */
export type BrokenReason =
  | 'connect-refused'
  | 'connect-failed'
  | 'tls'
  | 'reset'
  | 'closed-early'
  /** An idle connection that was used again was closed before any byte of the response: no crash of the service. */
  | 'closed-idle'
  | 'protocol'
  | 'too-large'
  /** The client's memory limit for responses was reached; the service is not at fault. */
  | 'no-memory'
  /** undici failed without naming the cause. */
  | 'unparsable'
  | 'no-done'
  /** A choice ended without saying why, so its text may be cut off. */
  | 'no-finish-reason'
  /** The reason for the end is a failure, such as `error` or `abort`. */
  | 'generation-failed'
  | 'malformed-body'
  /** A 2xx whose body is an error. */
  | 'error-in-body'
  /** Arrays and objects are nested more deeply than the reader follows. */
  | 'too-deep'
  /** Compressed, although the request accepts only `identity`. */
  | `content-encoding-${Encoding}`
  | 'error-in-stream'
  | 'unexpected-content-type'

/** Why a body is read no further. */
export type Unheld = Extract<BrokenReason, 'too-large' | 'no-memory'>

/** An outcome with its reason; impossible pairs do not compile. */
export type End =
  /** `not-closed`: a stream said its end, and its body stayed open, until this client closed it. */
  | { readonly outcome: 'ok'; readonly reason?: 'not-closed' }
  | { readonly outcome: 'http_error' }
  | { readonly outcome: 'broken'; readonly reason: BrokenReason }
  | { readonly outcome: 'timeout'; readonly reason: TimeoutReason }
  /** The client aborted on purpose; the reason names the point of the stream. */
  | { readonly outcome: 'aborted'; readonly reason: string }
  | { readonly outcome: 'not_sent'; readonly reason: NotSentReason }

/**
 * Whether the service may have charged for the attempt, as far as the client knows. `applied` must have
 * been charged and `not-applied` must not. `ambiguous` may have been charged at any time after it was
 * sent (`:info` in Jepsen).
 */
export type Effect = 'applied' | 'not-applied' | 'ambiguous'

/**
 * @param sent whether the socket carried the request (`sentUs` is not null)
 *
 * @example
 * console.log(effectOf('timeout', true)) // ambiguous: it may have been charged
 */
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
