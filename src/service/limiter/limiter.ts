import { words } from '../../user/words.ts'
import type { Limiter } from './counter.ts'
import { fixedWindow } from './fixed-window.ts'
import { gcra } from './gcra.ts'
import { slidingCounter } from './sliding-counter.ts'
import { slidingLog } from './sliding-log.ts'
import { tokenBucket } from './token-bucket.ts'

/** Every legal way to read "requests per minute" (gap G-22). */
export const algorithms = words(
  'fixed-aligned fixed-anchored sliding-log sliding-counter token-bucket gcra',
)
export type Algorithm = (typeof algorithms)[number]

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
