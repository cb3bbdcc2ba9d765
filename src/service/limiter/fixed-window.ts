import type { Limiter } from './counter.ts'

/**
 * One counter per window. `aligned` windows start at multiples of their length on the service's
 * clock. An `anchored` window starts at the first request after the last window. Both admit up to
 * twice the limit across an edge.
 */
export function fixedWindow(
  windowUs: number,
  start: 'aligned' | 'anchored',
  startUs = Number.NEGATIVE_INFINITY,
  counted = 0,
): Limiter {
  const usedAt = (nowUs: number) => (nowUs - startUs < windowUs ? counted : 0)
  return {
    admits: (nowUs, limit) => usedAt(nowUs) < limit,
    count(nowUs) {
      if (nowUs - startUs >= windowUs) {
        startUs = start === 'aligned' ? nowUs - (nowUs % windowUs) : nowUs
        counted = 0
      }
      counted++
    },
    remaining: (nowUs, limit) => Math.max(0, limit - usedAt(nowUs)),
    resetUs: (nowUs) =>
      start === 'aligned'
        ? nowUs - (nowUs % windowUs) + windowUs
        : nowUs - startUs < windowUs
          ? startUs + windowUs
          : nowUs + windowUs,
    scaled: (factor) => fixedWindow(windowUs, start, startUs, Math.round(counted * factor)),
  }
}
