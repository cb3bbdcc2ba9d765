import type { Limiter } from './counter.ts'

/**
 * A bucket of `limit` tokens that starts full and refills evenly over a window. A request takes one.
 * It is stored as the missing tokens, so that a changed limit keeps what was used.
 */
export function tokenBucket(windowUs: number, missing = 0, atUs = 0): Limiter {
  const missingAt = (nowUs: number, limit: number) =>
    Math.max(0, missing - ((nowUs - atUs) * limit) / windowUs)
  const tokens = (nowUs: number, limit: number) =>
    // A millionth of a token absorbs the rounding of the refill.
    Math.max(0, Math.floor(limit - missingAt(nowUs, limit) + 1e-6))
  return {
    admits: (nowUs, limit) => tokens(nowUs, limit) >= 1,
    count(nowUs, limit) {
      missing = Math.min(limit, missingAt(nowUs, limit) + 1)
      atUs = nowUs
    },
    remaining: (nowUs, limit) => Math.min(limit, tokens(nowUs, limit)),
    resetUs(nowUs, limit) {
      const missingNow = missingAt(nowUs, limit)
      if (missingNow <= 0) return nowUs
      const untilNext = missingNow - (limit - tokens(nowUs, limit) - 1)
      return Math.ceil(nowUs + (Math.min(missingNow, untilNext) * windowUs) / limit)
    },
    scaled: (factor) => tokenBucket(windowUs, missing * factor, atUs),
  }
}
