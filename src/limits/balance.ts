import type { LimitedRequest } from './limited-request.ts'

/** What is known of the balance when an request was admitted; both ends inclusive. */
export interface Bracket {
  readonly low: number
  readonly high: number
}

/** Many brackets, as columns. */
export interface Brackets {
  readonly low: Float64Array
  readonly high: Float64Array
}

/**
 * Brackets of the balance at each request's admission, from the credits headers of one account.
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
 * @param requests of one account, by start
 * @returns one bracket for each request, in the same order; `-Infinity` and `Infinity` for unknown
 */
export function balanceBrackets(requests: readonly LimitedRequest[]): Brackets {
  const started = sumsBy(requests, (request) => request.fromUs)
  const landed = sumsBy(requests, (request) => request.closedUs)
  const withHeader = requests.filter((request) => request.credits !== null)
  const headersBegun = counterOf(timesOf(withHeader, (request) => request.fromUs))
  const byHeader = [...withHeader].sort((a, b) => a.untilUs - b.untilUs)
  const headersOver = counterOf(timesOf(byHeader, (request) => request.untilUs))
  const unknown = requests.filter((request) => request.decision === 'unknown')
  const unknownStarted = sumsBy(unknown, (request) => request.fromUs)
  const unknownLanded = sumsBy(unknown, (request) => request.closedUs)

  const bracketOf = ({ credits, costCredits, fromUs, untilUs }: LimitedRequest): Bracket => {
    const before = byHeader[headersOver(fromUs) - 1]
    const after = withHeader[headersBegun(untilUs)]
    const others = started(untilUs) - landed(fromUs) - costCredits
    // A charge taken at the start comes back when its request fails, so the balance may rise by it.
    const refunds =
      before === undefined ? 0 : unknownStarted(untilUs) - unknownLanded(before.fromUs)
    const ceiling = before === undefined ? Infinity : before.credits! + before.costCredits + refunds
    if (credits === null) {
      const floor = after === undefined ? -Infinity : after.credits!
      return floor > ceiling
        ? { low: -Infinity, high: floor + after!.costCredits }
        : { low: floor, high: ceiling }
    }
    const low = credits - costCredits
    const high = credits + costCredits + others
    const toppedUp = before !== undefined && credits > ceiling
    return toppedUp
      ? { low: Math.min(low, before.credits! - before.costCredits - others), high }
      : { low, high: Math.max(low, Math.min(high, ceiling)) }
  }
  const low = new Float64Array(requests.length)
  const high = new Float64Array(requests.length)
  requests.forEach((request, at) => {
    const bracket = bracketOf(request)
    low[at] = bracket.low
    high[at] = bracket.high
  })
  return { low, high }
}

function timesOf(
  requests: readonly LimitedRequest[],
  timeUs: (request: LimitedRequest) => number,
): Float64Array {
  const times = new Float64Array(requests.length)
  for (let at = 0; at < times.length; at++) times[at] = timeUs(requests[at]!)
  return times
}

/** Costs up to a moment: what `timeUs` says lies at or before it. */
function sumsBy(
  requests: readonly LimitedRequest[],
  timeUs: (request: LimitedRequest) => number,
): (atUs: number) => number {
  const times = timesOf(requests, timeUs)
  const order = new Uint32Array(times.length)
  let inOrder = true
  for (let at = 0; at < times.length; at++) {
    order[at] = at
    if (at > 0 && times[at]! < times[at - 1]!) inOrder = false
  }
  if (!inOrder) order.sort((a, b) => times[a]! - times[b]!)
  const sorted = new Float64Array(times.length)
  const sums = new Float64Array(times.length + 1)
  for (let at = 0; at < order.length; at++) {
    sorted[at] = times[order[at]!]!
    sums[at + 1] = sums[at]! + requests[order[at]!]!.costCredits
  }
  const count = counterOf(sorted)
  return (atUs) => sums[count(atUs)]!
}

/**
 * How many of sorted numbers lie at or below a bound. One question lies near the one before, so the
 * search begins there and widens: O(log distance).
 */
function counterOf(sorted: Float64Array): (bound: number) => number {
  const size = sorted.length
  let last = 0
  return (bound) => {
    // All before `low` lie at or below the bound, all from `high` on above it.
    let [low, high] = [last, last]
    if (last < size && sorted[last]! <= bound) {
      low = high = last + 1
      for (let step = 1; high < size && sorted[high]! <= bound; step *= 2) {
        low = high + 1
        high += step
      }
      high = Math.min(high, size)
    } else {
      for (let step = 1; low > 0 && sorted[low - 1]! > bound; step *= 2) {
        high = low - 1
        low = Math.max(0, low - step)
      }
    }
    while (low < high) {
      const middle = (low + high) >>> 1
      if (sorted[middle]! <= bound) low = middle + 1
      else high = middle
    }
    last = low
    return low
  }
}
