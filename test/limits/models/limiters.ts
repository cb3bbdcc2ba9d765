/**
 * Limiters as commonly implemented, exact and with one clock, which the inference must recognise.
 * They share no code with `src/limits` (which reasons about intervals) nor with the service.
 */
export type Limiter = (atUs: number) => boolean

export const minuteUs = 60e6

export function fixedAligned(limit: number, phaseUs: number): Limiter {
  const counts = new Map<number, number>()
  return (atUs) => {
    const window = Math.floor((atUs - phaseUs) / minuteUs)
    const count = counts.get(window) ?? 0
    if (count >= limit) return false
    counts.set(window, count + 1)
    return true
  }
}

export function fixedAnchored(limit: number): Limiter {
  let beganUs = -Infinity
  let count = 0
  return (atUs) => {
    if (atUs >= beganUs + minuteUs) {
      beganUs = atUs
      count = 0
    }
    count++
    return count <= limit
  }
}

export function slidingLog(limit: number, rejectionsCount: boolean): Limiter {
  let hits: number[] = []
  return (atUs) => {
    hits = hits.filter((hit) => hit > atUs - minuteUs)
    const admitted = hits.length < limit
    if (admitted || rejectionsCount) hits.push(atUs)
    return admitted
  }
}

export function slidingCounter(
  limit: number,
  phaseUs: number,
  rejectionsCount: boolean,
  round: (value: number) => number,
): Limiter {
  const counts = new Map<number, number>()
  return (atUs) => {
    const window = Math.floor((atUs - phaseUs) / minuteUs)
    const elapsed = (atUs - phaseUs - window * minuteUs) / minuteUs
    const current = counts.get(window) ?? 0
    const admitted = round((counts.get(window - 1) ?? 0) * (1 - elapsed)) + current < limit
    if (admitted || rejectionsCount) counts.set(window, current + 1)
    return admitted
  }
}

/** A bucket of `limit` tokens that gains one at each of `limit` ticks a minute. */
export function tickedBucket(limit: number, phaseUs: number): Limiter {
  let tokens = limit
  let lastTick: number | null = null
  return (atUs) => {
    const tick = Math.floor((atUs - phaseUs) / (minuteUs / limit))
    if (lastTick !== null) {
      tokens = Math.min(limit, tokens + tick - lastTick)
    }
    lastTick = tick
    if (tokens < 1) return false
    tokens--
    return true
  }
}

/** @param debt how far below empty a counted rejection may push it */
export function tokenBucket(
  limit: number,
  burst: number,
  rejectionsCount = false,
  debt = 0,
): Limiter {
  let tokens = burst
  let lastUs: number | null = null
  return (atUs) => {
    if (lastUs !== null) {
      tokens = Math.min(burst, tokens + ((atUs - lastUs) * limit) / minuteUs)
    }
    lastUs = atUs
    if (tokens >= 1 - 1e-9) {
      tokens -= 1
      return true
    }
    if (rejectionsCount) tokens = Math.max(-debt, tokens - 1)
    return false
  }
}
