import type { Arrival } from './arrival.ts'

/** What is known of the balance when an arrival was admitted; both ends inclusive. */
export interface Bracket {
  readonly low: number
  readonly high: number
}

/**
 * Brackets of the balance at each arrival's admission, from the credits headers of one account.
 *
 * A header is the balance before its own charge, after it, or after it but early (gap G-12), and a
 * band may be chosen before or after the charge (gap G-24), so a header `v` of cost `c` speaks of
 * balances in `[v - c, v + c]`. Charges of others that may have landed between the admission and
 * the header widen it upwards; a header that stood before the admission bounds it from above, but
 * for refunds of requests that failed. A balance that rose between two attempts was topped up: the bracket then holds both sides.
 *
 *        v_j          admission   v_i            v_k
 *     ───┤ j ├───────────┤   i    ├──────────────┤ k ├──▶
 *     high <= v_j + c_j          [v_i - c_i, v_i + c_i + overlapping]      low >= v_k
 *
 * @param arrivals of one account, by start
 * @returns one bracket for each arrival, in the same order; `-Infinity` and `Infinity` for unknown
 */
export function balanceBrackets(arrivals: readonly Arrival[]): readonly Bracket[] {
  const landed = [...arrivals].sort((a, b) => a.closedUs - b.closedUs)
  const withHeader = arrivals.filter((arrival) => arrival.credits !== null)
  const byHeader = [...withHeader].sort((a, b) => a.untilUs - b.untilUs)
  const startedCost = runningSums(arrivals)
  const landedCost = runningSums(landed)
  const unknown = arrivals.filter((arrival) => arrival.decision === 'unknown')
  const unknownByEnd = [...unknown].sort((a, b) => a.closedUs - b.closedUs)
  const unknownStarted = runningSums(unknown)
  const unknownLanded = runningSums(unknownByEnd)

  return arrivals.map((arrival) => {
    const before = byHeader[countUpTo(byHeader, (other) => other.untilUs, arrival.fromUs) - 1]
    const after = withHeader[countUpTo(withHeader, (other) => other.fromUs, arrival.untilUs)]
    const others =
      startedCost[countUpTo(arrivals, (other) => other.fromUs, arrival.untilUs)]! -
      landedCost[countUpTo(landed, (other) => other.closedUs, arrival.fromUs)]! -
      arrival.costCredits
    // A charge taken at the start comes back when its request fails, so the balance may rise by it.
    const refunds =
      before === undefined
        ? 0
        : unknownStarted[countUpTo(unknown, (other) => other.fromUs, arrival.untilUs)]! -
          unknownLanded[countUpTo(unknownByEnd, (other) => other.closedUs, before.fromUs)]!
    const ceiling = before === undefined ? Infinity : before.credits! + before.costCredits + refunds
    if (arrival.credits === null) {
      const floor = after === undefined ? -Infinity : after.credits!
      return floor > ceiling
        ? { low: -Infinity, high: floor + after!.costCredits }
        : { low: floor, high: ceiling }
    }
    const low = arrival.credits - arrival.costCredits
    const high = arrival.credits + arrival.costCredits + others
    const toppedUp = before !== undefined && arrival.credits > ceiling
    return toppedUp
      ? { low: Math.min(low, before.credits! - before.costCredits - others), high }
      : { low, high: Math.max(low, Math.min(high, ceiling)) }
  })
}

/** Sums of costs: entry n is the cost of the first n arrivals. */
function runningSums(arrivals: readonly Arrival[]): Float64Array {
  const sums = new Float64Array(arrivals.length + 1)
  arrivals.forEach((arrival, index) => {
    sums[index + 1] = sums[index]! + arrival.costCredits
  })
  return sums
}

/** How many entries, sorted by `at`, lie at or before a bound. */
export function countUpTo<T>(
  sorted: readonly T[],
  at: (entry: T) => number,
  bound: number,
): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (at(sorted[middle]!) <= bound) low = middle + 1
    else high = middle
  }
  return low
}
