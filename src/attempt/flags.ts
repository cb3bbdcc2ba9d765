/**
 * Findings of the reader of a response, one bit each. The view `attempt_flags` has a boolean column for
 * each.
 */
export const flags = {
  /** The connection had carried a request before. */
  reusedConnection: 1 << 0,
  /** X-Credits-Remaining is not a plain integer. */
  malformedCredits: 1 << 1,
  /** X-RateLimit-Limit is not a plain number. */
  malformedRateLimit: 1 << 2,
  /** X-RateLimit-Remaining is not a plain number. */
  malformedRateRemaining: 1 << 3,
  /** X-RateLimit-Reset is not a plain number. */
  malformedRateReset: 1 << 4,
  /** Retry-After is not delta-seconds. */
  retryAfterNotSeconds: 1 << 5,
  /** The response has Access-Control-Allow-Origin. */
  allowOrigin: 1 << 6,
  /** Content-Type is JSON. */
  jsonType: 1 << 7,
  /** Content-Type is text/event-stream. */
  sseType: 1 << 8,
  /** A plain body, or the data of an event, was not JSON. */
  notJson: 1 << 9,
  /** Some bytes are not UTF-8. */
  notUtf8: 1 << 10,
  /** The terminal event of a stream was not the last. */
  afterDone: 1 << 11,
  /** The stream has an error event. */
  errorInStream: 1 << 12,
  /** A 2xx has an error body, or a failure has a completion. */
  bodyContradictsStatus: 1 << 13,
  /** The response has non-empty reasoning text. */
  reasoning: 1 << 14,
  /** The body of the response is in `bodies`. */
  captured: 1 << 15,
  /** The rate limit is in the structured fields RateLimit and RateLimit-Policy. */
  structuredRateLimit: 1 << 16,
  /** The stream holds a part or a summary of the tokens that the service counted: how many of them is not known. */
  textInPart: 1 << 17,
  /** The answer was made in several passes, and the tokens of the row are those of its usage as a whole: not all that it costs. */
  severalPasses: 1 << 18,
} as const

/** SQL condition: a row of `attempts` has the flag. */
export const flagSql = (name: keyof typeof flags): string => `((flags & ${flags[name]}) <> 0)`
