import { performance } from 'node:perf_hooks'

/**
 * One monotonic clock for all threads of a run. `performance.now()` is cheapest, but starts with each
 * thread. `process.hrtime` is the same in all threads, so each thread measures its offset once.
 */

/** Nanoseconds on the machine's monotonic clock, the same in all threads. */
export const monotonicNs = (): bigint => process.hrtime.bigint()

/**
 * @param zeroNs `monotonicNs()` at microsecond 0 of the run
 * @returns microseconds since then, with fractions
 */
export function runClock(zeroNs: bigint): () => number {
  // Keep the tightest of several pairs: a pause between two readings would shift the clock.
  let offsetUs = 0
  let gapNs = Infinity
  for (let round = 0; round < 16; round++) {
    const before = process.hrtime.bigint()
    const nowUs = performance.now() * 1000
    const after = process.hrtime.bigint()
    if (Number(after - before) < gapNs) {
      gapNs = Number(after - before)
      offsetUs = Number(before - zeroNs) / 1000 + gapNs / 2000 - nowUs
    }
  }
  return () => performance.now() * 1000 + offsetUs
}
