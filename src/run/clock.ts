import { performance } from 'node:perf_hooks'

/**
 * One monotonic clock for all threads of a run. `performance.now()` is the cheapest, but each
 * thread's begins when the thread does; `process.hrtime` is the same in all of them, so each
 * thread measures its own offset once.
 */

/** Nanoseconds on the machine's monotonic clock: equal in all threads. */
export function monotonicNs(): bigint {
  return process.hrtime.bigint()
}

/**
 * @param zeroNs `monotonicNs()` at microsecond 0 of the run
 * @returns microseconds since then, with fractions
 */
export function runClock(zeroNs: bigint): () => number {
  // The tightest of several pairs: a pause between the two readings would shift the thread.
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
