import type { Limiter } from './counter.ts'

/** To copy the array for fewer would cost more than it frees. */
const fewestDropped = 1024

/**
 * Remembers the time of each request, so it is exact: no window ever has more requests than the limit. It costs the memory of
 * one number for each request of a window. The times are read from `first` on, and those before it are sometimes dropped.
 */
export function slidingLog(windowUs: number, initialTimes: readonly number[] = []): Limiter {
  let times = [...initialTimes]
  let first = 0
  const forget = (nowUs: number) => {
    while (first < times.length && nowUs - times[first]! >= windowUs) first++
    if (first > fewestDropped && first * 2 > times.length) {
      times = times.slice(first)
      first = 0
    }
  }
  const used = (nowUs: number) => {
    forget(nowUs)
    return times.length - first
  }
  return {
    admits: (nowUs, limit) => used(nowUs) < limit,
    count(nowUs) {
      forget(nowUs)
      times.push(nowUs)
    },
    remaining: (nowUs, limit) => Math.max(0, limit - used(nowUs)),
    resetUs(nowUs, limit) {
      const counted = used(nowUs)
      if (counted === 0) return nowUs
      // Above the limit (the balance fell by a band), several must leave before one fits.
      const leaving = first + Math.max(0, counted - limit)
      return times[leaving]! + windowUs
    },
    scaled(factor) {
      const counted = times.slice(first)
      const length = Math.round(counted.length * factor)
      // Spreads the times evenly over the new count.
      const spread = Array.from({ length }, (_, at) => counted[Math.floor(at / factor)]!)
      return slidingLog(windowUs, spread)
    },
  }
}
