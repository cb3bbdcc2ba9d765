import type { LimitedRequest } from './limited-request.ts'

/**
 * Majorization: a response that shows `x` or more remaining was counted among the first `limit - x`,
 * whatever the order, and whether it shows its own value or a later snapshot. A lost update, a counter
 * for each replica or an uncounted request shows `x` too often.
 *
 *     #{ i : remaining_i >= x }  <=  windows * (limit - x) + forgotten        for every x
 *
 * @param requests of a key that was idle before; all were counted
 * @param windows 2 if an edge of windows may lie among them, else 1
 * @param forgotten requests that the limiter may have forgotten meanwhile
 * @returns the highest value shown too often, with the responses that show it or more
 */
export function shownTooOften(
  requests: readonly LimitedRequest[],
  limit: number,
  windows: 1 | 2,
  forgotten: number,
): { readonly value: number; readonly requests: readonly LimitedRequest[] } | null {
  const falling = requests
    .filter(({ remaining }) => remaining !== null)
    .sort((a, b) => b.remaining! - a.remaining!)
  for (let at = 0; at < falling.length; at++) {
    const value = falling[at]!.remaining!
    if (falling[at + 1]?.remaining === value) continue
    if (at + 1 > windows * (limit - value) + forgotten) {
      return { value, requests: falling.slice(0, at + 1) }
    }
  }
  return null
}
