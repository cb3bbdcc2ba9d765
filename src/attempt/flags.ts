/**
 * What the reader of a response noticed, one bit each, so that a row stays a row of numbers.
 * The view `attempt_flags` has a boolean column for each.
 */
export const flags = {
  /** The connection had carried a request before. */
  reusedConnection: 1 << 0,
  /** X-Credits-Remaining was present and is not a plain integer. */
  malformedCredits: 1 << 1,
  /** X-RateLimit-Limit was present and is not a plain number. */
  malformedRateLimit: 1 << 2,
  /** X-RateLimit-Remaining was present and is not a plain number. */
  malformedRateRemaining: 1 << 3,
  /** X-RateLimit-Reset was present and is not a plain number. */
  malformedRateReset: 1 << 4,
  /** Retry-After was present and is not delta-seconds. */
  retryAfterNotSeconds: 1 << 5,
  /** The response carried Access-Control-Allow-Origin. */
  allowOrigin: 1 << 6,
  /** Content-Type said JSON. */
  jsonType: 1 << 7,
  /** Content-Type said text/event-stream. */
  sseType: 1 << 8,
  /** A plain body, or an event's data, was not JSON. */
  notJson: 1 << 9,
  /** Bytes that are not UTF-8. */
  notUtf8: 1 << 10,
  /** Something came after the terminal event of a stream. */
  afterDone: 1 << 11,
  /** A stream carried an error event. */
  errorInStream: 1 << 12,
  /** A 2xx carried an error body, or a failure a completion. */
  bodyContradictsStatus: 1 << 13,
  /** The response carried non-empty reasoning text. */
  reasoning: 1 << 14,
  /** The body of the response is in `bodies`. */
  captured: 1 << 15,
} as const

/** SQL over a row of `attempts`: whether it has the flag. */
export function flagSql(name: keyof typeof flags): string {
  return `((flags & ${flags[name]}) <> 0)`
}
