import { fixedWindow } from './fixed-window.ts'
import { gcra } from './gcra.ts'
import { slidingCounter } from './sliding-counter.ts'
import { slidingLog } from './sliding-log.ts'
import { tokenBucket } from './token-bucket.ts'

/** Every legal way to read "requests per minute" (gap G-22). */
export const algorithms = [
  'fixed-aligned',
  'fixed-anchored',
  'sliding-log',
  'sliding-counter',
  'token-bucket',
  'gcra',
] as const
export type Algorithm = (typeof algorithms)[number]

/**
 * Counts the requests of one key in one window. Pure: time and limit come in, since the limit
 * changes with the balance. `nowUs` never falls from one call to the next.
 */
export interface Limiter {
  /** Whether one more request fits; changes nothing that a later answer could show. */
  admits(nowUs: number, limit: number): boolean
  /** Counts a request, admitted or (where a profile counts those) refused. */
  count(nowUs: number, limit: number): void
  /** Requests that would be admitted now in a row; never below zero nor above the limit. */
  remaining(nowUs: number, limit: number): number
  /**
   * When more will be admitted than now: for windows their end, for logs and buckets the next
   * slot; `nowUs` itself where nothing is counted.
   */
  resetUs(nowUs: number, limit: number): number
  /** Another of its kind and age that has counted so many times as much; this one stays as it is. */
  scaled(factor: number): Limiter
}

/** An empty limiter of that algorithm. */
export function createLimiter(algorithm: Algorithm, windowUs: number): Limiter {
  switch (algorithm) {
    case 'fixed-aligned':
      return fixedWindow(windowUs, 'aligned')
    case 'fixed-anchored':
      return fixedWindow(windowUs, 'anchored')
    case 'sliding-log':
      return slidingLog(windowUs)
    case 'sliding-counter':
      return slidingCounter(windowUs)
    case 'token-bucket':
      return tokenBucket(windowUs)
    case 'gcra':
      return gcra(windowUs)
  }
}
