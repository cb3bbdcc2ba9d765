import { type Endpoint, generates } from '../contract/request.ts'

/** What an answer tells about the limiter's decision. */
export type Decision =
  /** A generation that was served: the limiter let it in and counted it. */
  | 'admitted'
  /** 429: the limiter turned it away; some limiters count it all the same. */
  | 'rejected'
  /** Another 4xx: whether the limiter saw it, and counted it, is open (gap G-18). */
  | 'refused'
  /** A read of models or credits that succeeded: open in the same way. */
  | 'read'
  /** 5xx, timeouts, aborts: it may have been counted. */
  | 'unknown'

/**
 * One attempt as a rate limiter met it. Times are microseconds of the service's own time on the
 * client's monotonic clock; the decision fell somewhere in `[fromUs, untilUs]`.
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
  /** When the socket began to carry it. */
  readonly fromUs: number
  /** When its headers were complete, or it ended without any. */
  readonly untilUs: number
  /** When the response ended; a charge may land until then. */
  readonly closedUs: number
  /** What a success costs; 0 where nothing can have been charged. */
  readonly costCredits: number
  readonly credits: number | null
  readonly limit: number | null
  readonly remaining: number | null
  readonly reset: number | null
  /** Unix seconds of the `Date` header. */
  readonly dateS: number | null
  readonly retryAfterS: number | null
}

/** Generations are what is billed and limited; a broken stream after a 2xx head was admitted too. */
export function decisionOf(status: number | null, endpoint: Endpoint): Decision {
  if (status === null || status >= 500 || status < 200) return 'unknown'
  if (status === 429) return 'rejected'
  if (status >= 300) return status >= 400 ? 'refused' : 'unknown'
  return generates(endpoint) ? 'admitted' : 'read'
}

/** @param order of time: by start, so that a scan sees what could have come before */
export function byStart(a: LimitedRequest, b: LimitedRequest): number {
  return a.fromUs - b.fromUs || a.untilUs - b.untilUs
}

/** The same attempt, where its answer tells nothing of the window that is looked at. */
export function withUnknownDecision(request: LimitedRequest): LimitedRequest {
  // Named one by one: an request may be a row of a table, whose fields no spread would copy.
  const { runId, slot, retry, key, account, endpoint, status } = request
  const { fromUs, untilUs, closedUs, costCredits, credits } = request
  const { limit, remaining, reset, dateS, retryAfterS } = request
  return {
    ...{ runId, slot, retry, key, account, endpoint, decision: 'unknown', status },
    ...{ fromUs, untilUs, closedUs, costCredits, credits },
    ...{ limit, remaining, reset, dateS, retryAfterS },
  }
}
