import type { RetryAdvice } from '../contract/contract.ts'

/**
 * The specification's guidance for clients (§7.5): retry only on 429, up to `maxAttempts` attempts in all
 * (including the first). The delay is `baseDelayMs`, doubled for each further attempt, plus a jitter of 0
 * to `jitterMs`, and at most `maxDelayMs`.
 *
 * @param attemptsMade attempts of this request so far, from 1
 * @param random uniform in [0, 1)
 * @returns milliseconds until the next attempt; null for none
 */
export function retryDelayMs(
  policy: RetryAdvice,
  status: number | null,
  attemptsMade: number,
  random: () => number,
): number | null {
  if (status !== 429 || attemptsMade >= policy.maxAttempts) return null
  const backoffMs = policy.baseDelayMs * 2 ** (attemptsMade - 1)
  return Math.min(backoffMs + random() * policy.jitterMs, policy.maxDelayMs)
}
