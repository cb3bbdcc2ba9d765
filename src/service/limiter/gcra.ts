import type { Limiter } from './limiter.ts'

/**
 * The generic cell rate algorithm with a burst of one: requests are admitted no closer together
 * than a limit-th of the window.
 */
export function gcra(windowUs: number): Limiter {
  /** Theoretical arrival time of the next request. */
  let nextUs = 0
  return {
    admits: (nowUs) => nowUs >= nextUs,
    count(nowUs, limit) {
      nextUs = Math.max(nowUs, nextUs) + Math.ceil(windowUs / limit)
    },
    remaining: (nowUs) => (nowUs >= nextUs ? 1 : 0),
    resetUs: (nowUs) => Math.max(nowUs, nextUs),
  }
}
