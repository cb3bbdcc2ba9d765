import type { Bracket } from './balance.ts'

/**
 * The balances that an account may have had at any moment of the trailing window of each entry:
 * a service may take a new band into effect at once or with the next window (RATE-18), so either
 * row is legal for as long as a window.
 *
 * @param entries by time
 * @returns one bracket for each entry: the lowest low and the highest high in `[at - windowUs, at]`
 */
export function trailingBrackets(
  entries: readonly { readonly fromUs: number; readonly balance: Bracket }[],
  windowUs: number,
): readonly Bracket[] {
  const highs = slidingExtremes(entries, windowUs, (entry) => entry.balance.high, 1)
  const lows = slidingExtremes(entries, windowUs, (entry) => entry.balance.low, -1)
  return entries.map((_, index) => ({ low: lows[index]!, high: highs[index]! }))
}

/** Monotonic deque; `sign` 1 for the largest, -1 for the smallest. */
function slidingExtremes<Entry extends { readonly fromUs: number }>(
  entries: readonly Entry[],
  windowUs: number,
  value: (entry: Entry) => number,
  sign: 1 | -1,
): Float64Array {
  const extremes = new Float64Array(entries.length)
  const deque: number[] = []
  let head = 0
  entries.forEach((entry, index) => {
    while (deque.length > head && sign * value(entries[deque.at(-1)!]!) <= sign * value(entry)) {
      deque.pop()
    }
    deque.push(index)
    while (entries[deque[head]!]!.fromUs < entry.fromUs - windowUs) head++
    extremes[index] = value(entries[deque[head]!]!)
  })
  return extremes
}
