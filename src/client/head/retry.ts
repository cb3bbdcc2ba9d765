import type { RetryAdvice } from '../../contract/contract.ts'

/** What the service says about the next attempt. */
export interface RetryWish {
  /** How long it asks to wait; NaN if it does not. */
  readonly waitMs: number
  /** A wait that is longer is not worth it: the request is not sent again. */
  readonly longestMs: number
}

/**
 * The specification's guidance (§7.5): retry only on 429, up to `maxAttempts` attempts. The delay doubles from `baseDelayMs`,
 * plus a jitter, up to `maxDelayMs`. A service that asks for more (`Retry-After`) gets it, or no further attempt.
 *
 * @param attemptsMade attempts of this request so far, from 1
 * @returns milliseconds until the next attempt; null for none
 */
export function retryDelayMs(
  policy: RetryAdvice,
  status: number | null,
  attemptsMade: number,
  { waitMs, longestMs }: RetryWish,
  random: () => number,
): number | null {
  if (status !== 429 || attemptsMade >= policy.maxAttempts || waitMs > longestMs) return null
  const backoffMs = policy.baseDelayMs * 2 ** (attemptsMade - 1)
  const leastMs = Math.min(backoffMs + random() * policy.jitterMs, policy.maxDelayMs)
  return waitMs > leastMs ? waitMs : leastMs
}
