import type { Limiter } from './limiter.ts'

/**
 * The generic cell rate algorithm with a burst of one: requests are admitted no closer together
 * than a limit-th of the window. Where refused requests count, too, they put the next one off by no
 * more than a window: who rests for that long has made no request in it.
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
    // A time is nobody's share: the next request is due when it was.
    scaled: () => gcra(windowUs, nextUs),
  }
}
