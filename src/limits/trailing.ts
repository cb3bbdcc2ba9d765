import type { Bracket, Brackets } from './balance.ts'

/**
 * The balances that an account may have had during the trailing window of each entry. A new band may
 * take effect at once or with the next window (RATE-18), so both bands are legal for one window.
 *
 * @param entries by time
 * @returns one bracket for each entry: the lowest low and the highest high in `[at - windowUs, at]`
 */
export function trailingBrackets(
  entries: readonly { readonly fromUs: number; readonly balance: Bracket }[],
  windowUs: number,
): Brackets {
  const times = new Float64Array(entries.length)
  const [low, high] = [new Float64Array(entries.length), new Float64Array(entries.length)]
  for (let at = 0; at < entries.length; at++) {
    const { fromUs, balance } = entries[at]!
    times[at] = fromUs
    low[at] = -balance.low
    high[at] = balance.high
  }
  return {
    low: slidingHighest(times, windowUs, low).map((negative) => -negative),
    high: slidingHighest(times, windowUs, high),
  }
}

/** The largest value of each trailing window, by a queue of falling values. */
function slidingHighest(times: Float64Array, windowUs: number, values: Float64Array): Float64Array {
  const highest = new Float64Array(values.length)
  const queue = new Uint32Array(values.length)
  let [head, tail] = [0, 0]
  for (let at = 0; at < values.length; at++) {
    while (tail > head && values[queue[tail - 1]!]! <= values[at]!) tail--
    queue[tail++] = at
    while (times[queue[head]!]! < times[at]! - windowUs) head++
    highest[at] = values[queue[head]!]!
  }
  return highest
}
