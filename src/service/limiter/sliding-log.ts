import type { Limiter } from './counter.ts'

/**
 * Remembers the time of each request: never more than the limit in any window, for one number per
 * request. The log is a growing array that is read from `first` and sometimes compacted.
 */
export function slidingLog(windowUs: number, log: number[] = []): Limiter {
  let first = 0
  const forget = (nowUs: number) => {
    while (first < log.length && nowUs - log[first]! >= windowUs) first++
    if (first > 1024 && first * 2 > log.length) {
      log = log.slice(first)
      first = 0
    }
  }
  const used = (nowUs: number) => {
    forget(nowUs)
    return log.length - first
  }
  return {
    admits: (nowUs, limit) => used(nowUs) < limit,
    count(nowUs) {
      forget(nowUs)
      log.push(nowUs)
    },
    remaining: (nowUs, limit) => Math.max(0, limit - used(nowUs)),
    resetUs(nowUs, limit) {
      const counted = used(nowUs)
      if (counted === 0) return nowUs
      // Above the limit (the balance fell by a band), several must leave before one fits.
      const leaving = first + Math.max(0, counted - limit)
      return log[leaving]! + windowUs
    },
    scaled(factor) {
      const counted = log.slice(first)
      const times = Math.round(counted.length * factor)
      return slidingLog(
        windowUs,
        Array.from({ length: times }, (_, at) => counted[Math.floor(at / factor)]!),
      )
    },
  }
}
