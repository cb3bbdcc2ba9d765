import type { Limiter } from './counter.ts'

/**
 * The generic cell rate algorithm with a burst of one: requests are admitted at intervals of at least
 * the window divided by the limit. If refused requests count, they delay the next one by one window
 * at most, because a key that rests for a window has made no request in it.
 *
 * @param nextUs theoretical arrival time of the next request
 */
export function gcra(windowUs: number, nextUs = 0): Limiter {
  return {
    admits: (nowUs) => nowUs >= nextUs,
    count(nowUs, limit) {
      const spacingUs = Math.ceil(windowUs / limit)
      nextUs = Math.min(Math.max(nowUs, nextUs) + spacingUs, nowUs + windowUs)
    },
    remaining: (nowUs) => (nowUs >= nextUs ? 1 : 0),
    resetUs: (nowUs) => Math.max(nowUs, nextUs),
    // A time has no share: the next request is due when it was before.
    scaled: () => gcra(windowUs, nextUs),
  }
}
