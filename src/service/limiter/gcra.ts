import type { Limiter } from './limiter.ts'

/**
 * The generic cell rate algorithm with a burst of one: requests are admitted no closer together
 * than a limit-th of the window.
 */
/** @param nextUs theoretical arrival time of the next request */
export function gcra(windowUs: number, nextUs = 0): Limiter {
  return {
    admits: (nowUs) => nowUs >= nextUs,
    count(nowUs, limit) {
      nextUs = Math.max(nowUs, nextUs) + Math.ceil(windowUs / limit)
    },
    remaining: (nowUs) => (nowUs >= nextUs ? 1 : 0),
    resetUs: (nowUs) => Math.max(nowUs, nextUs),
    // A time is nobody's share: the next request is due when it was.
    scaled: () => gcra(windowUs, nextUs),
  }
}
