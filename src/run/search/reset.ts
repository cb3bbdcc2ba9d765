import type { Attempt } from '../../client/row/attempt.ts'

/** Up to so many seconds a reset is a time from now, up to the next a number of milliseconds; above, it is Unix time. */
const [mostSeconds, mostMs] = [3600, 1e8]
/** Unix time in seconds is below the first, in milliseconds below the second, and in microseconds above. */
const [mostUnixS, mostUnixMs] = [1e11, 1e14]

/**
 * When a service that refused a request (429) lets the next in, on the clock of its attempt: by `Retry-After`, else by
 * the reset of its limit. NaN if it says neither.
 */
export function resetAtUs({ endedUs, retryAfter, rateReset, dateS }: Attempt): number {
  const inS = Number.isNaN(retryAfter) ? resetInS(rateReset, dateS) : retryAfter
  return endedUs + inS * 1e6
}

function resetInS(reset: number, dateS: number): number {
  if (reset <= mostSeconds) return reset
  if (reset <= mostMs) return reset / 1000
  const unixS = reset < mostUnixS ? reset : reset < mostUnixMs ? reset / 1000 : reset / 1e6
  return Math.max(0, unixS - dateS)
}
