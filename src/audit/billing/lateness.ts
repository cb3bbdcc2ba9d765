import { type History, lefts } from './history.ts'

/**
 * How late the client may have been to see an answer that it then took for a timeout.
 *
 * A client that stands still past a deadline finds the deadline before the answer that waited all the time.
 * How long it stood still in a stretch shows in how far its timeouts there are from the earliest of all; three
 * times that is allowed: until the deadline was seen, and as long before as after it, twice.
 *
 * @param stretchOf number of the stretch that a row lies in
 * @returns microseconds; 0 for what did not time out
 */
export function latenessOf(
  { size, callUs, endUs, left }: History,
  stretchOf: (row: number) => number,
): (row: number) => number {
  let deadlineUs = Infinity
  const latestUs = new Map<number, number>()
  for (let row = 0; row < size; row++) {
    if (left[row] !== lefts.timeout) continue
    const tookUs = endUs[row]! - callUs[row]!
    deadlineUs = Math.min(deadlineUs, tookUs)
    latestUs.set(stretchOf(row), Math.max(latestUs.get(stretchOf(row)) ?? 0, tookUs))
  }
  return (row) =>
    left[row] === lefts.timeout ? 3 * ((latestUs.get(stretchOf(row)) ?? 0) - deadlineUs) : 0
}
