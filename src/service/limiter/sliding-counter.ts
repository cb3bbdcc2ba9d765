import type { Limiter } from './counter.ts'

/**
 * Two aligned counters. The last window counts by the share of it that a window that ends now would
 * cover. It is cheap and close to a log. After a full window, room returns gradually.
 */
export function slidingCounter(windowUs: number, startUs = 0, current = 0, last = 0): Limiter {
  const turn = (nowUs: number) => {
    const windowStartUs = nowUs - (nowUs % windowUs)
    if (windowStartUs === startUs) return
    last = windowStartUs - startUs === windowUs ? current : 0
    current = 0
    startUs = windowStartUs
  }
  const used = (nowUs: number) => {
    turn(nowUs)
    return Math.floor(last * (1 - (nowUs - startUs) / windowUs)) + current
  }
  return {
    admits: (nowUs, limit) => used(nowUs) < limit,
    count(nowUs) {
      turn(nowUs)
      current++
    },
    remaining: (nowUs, limit) => Math.max(0, limit - used(nowUs)),
    resetUs(nowUs, limit) {
      if (used(nowUs) < limit) return startUs + windowUs
      // One fits once the last window has faded enough, or in the next window, once this one has.
      const [from, weight, room] =
        current < limit ? [startUs, last, limit - current] : [startUs + windowUs, current, limit]
      return Math.ceil(from + windowUs * Math.max(0, 1 - room / weight)) + 1
    },
    scaled: (factor) =>
      slidingCounter(windowUs, startUs, Math.round(current * factor), Math.round(last * factor)),
  }
}
