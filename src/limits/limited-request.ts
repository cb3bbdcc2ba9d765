import { type Endpoint, generates } from '../contract/request.ts'

/** The limiter's decision, as the response shows it. */
export type Decision =
  /** A 2xx of a generation: the limiter admitted and counted it. */
  | 'admitted'
  /** 429; some limiters count it nevertheless. */
  | 'rejected'
  /** Another 4xx: whether the limiter counted it is open (gap G-18). */
  | 'refused'
  /** A successful read of models or credits: also open (gap G-18). */
  | 'read'
  /** 3xx, 5xx or no response headers: it may have been counted. */
  | 'unknown'

/**
 * One attempt as a rate limiter saw it. Times are microseconds on the client's monotonic clock, scaled
 * to the service's own time. The decision was made within `[fromUs, untilUs]`.
 */
export interface LimitedRequest {
  readonly runId: string
  readonly slot: number
  readonly retry: number
  readonly key: string
  readonly account: string
  readonly endpoint: Endpoint
  readonly decision: Decision
  readonly status: number | null
  /** When it was sent on the socket. */
  readonly fromUs: number
  /** When its response headers were complete, or when it ended without any. */
  readonly untilUs: number
  /** When the response ended; a charge may land until then. */
  readonly closedUs: number
  /** Price of a success; 0 if nothing can have been charged. */
  readonly costCredits: number
  readonly credits: number | null
  readonly limit: number | null
  readonly remaining: number | null
  readonly reset: number | null
  /** Unix seconds of the `Date` header. */
  readonly dateS: number | null
  readonly retryAfterS: number | null
}

/** A broken stream after a 2xx head was admitted too. */
export function decisionOf(status: number | null, endpoint: Endpoint): Decision {
  if (status === null || status >= 500 || status < 200) return 'unknown'
  if (status === 429) return 'rejected'
  if (status >= 300) return status >= 400 ? 'refused' : 'unknown'
  return generates(endpoint) ? 'admitted' : 'read'
}

/** The same attempt with the decision `unknown`. */
export function withUnknownDecision(request: LimitedRequest): LimitedRequest {
  // A spread would not copy the fields of a request that is a view of a table row.
  const { runId, slot, retry, key, account, endpoint, status } = request
  const { fromUs, untilUs, closedUs, costCredits, credits } = request
  const { limit, remaining, reset, dateS, retryAfterS } = request
  return {
    runId,
    slot,
    retry,
    key,
    account,
    endpoint,
    decision: 'unknown',
    status,
    fromUs,
    untilUs,
    closedUs,
    costCredits,
    credits,
    limit,
    remaining,
    reset,
    dateS,
    retryAfterS,
  }
}
