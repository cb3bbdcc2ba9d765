import type { LimitedRequest } from './limited-request.ts'

/** Bounds of the balance at the admission of a request; both inclusive. */
export interface Bracket {
  readonly low: number
  readonly high: number
}

/** Brackets as columns. */
export interface Brackets {
  readonly low: Float64Array
  readonly high: Float64Array
}

/**
 * Brackets of the balance at each request's admission, from the credits headers of one account.
 *
 * A header shows the balance before or after its own charge (gap G-12), and a band is chosen before
 * or after the charge (gap G-24). A header `v` of a request of cost `c` thus allows `[v - c, v + c]`.
 * Charges of others that may land between the admission and the header raise the upper end. A header
 * before the admission bounds it from above, except for refunds of failed requests. A balance that
 * rose between two attempts was topped up; the bracket then holds both sides.
 *
 *        v_j          admission   v_i            v_k
 *     ───┤ j ├───────────┤   i    ├──────────────┤ k ├──▶
 *     high <= v_j + c_j          [v_i - c_i, v_i + c_i + overlapping]      low >= v_k
 *
 * @param requests of one account, by start
 * @returns one bracket for each request, in the same order; `-Infinity` or `Infinity` for an unknown end
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
    // A charge made at the start is refunded when its request fails.
    const refunds =
      before === undefined ? 0 : unknownStarted(untilUs) - unknownLanded(before.fromUs)
    const ceiling = before === undefined ? Infinity : before.credits! + before.costCredits + refunds
    if (credits === null) {
      // Between the next header and the last one; after a top-up, only below the next.
      const floor = after === undefined ? -Infinity : after.credits!
      return floor > ceiling
        ? { low: -Infinity, high: floor + after!.costCredits }
        : { low: floor, high: ceiling }
    }
    const low = credits - costCredits
    const high = credits + costCredits + others
    const toppedUp = before !== undefined && credits > ceiling
    // The top-up may have come before the admission or after it.
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

/** The sum of the costs of requests whose `timeUs` is at or before a time. */
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
 * Counts the sorted numbers at or below a bound. The search starts at the last result and widens,
 * because successive bounds are close: O(log distance).
 */
function counterOf(sorted: Float64Array): (bound: number) => number {
  const size = sorted.length
  let last = 0
  return (bound) => {
    // All before `low` are at or below the bound; all from `high` on are above it.
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
