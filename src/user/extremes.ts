/**
 * The largest and the smallest of a list of any length. `Math.max` of a spread list puts each element on the stack, which holds about
 * 125,000 of them.
 */

/** @returns `floor` of an empty list, or if no value is larger */
export function largest(values: Iterable<number>, floor = Number.NEGATIVE_INFINITY): number {
  let most = floor
  for (const value of values) if (value > most || Number.isNaN(value)) most = value
  return most
}

/** @returns `ceiling` of an empty list, or if no value is smaller */
export function smallest(values: Iterable<number>, ceiling = Number.POSITIVE_INFINITY): number {
  let least = ceiling
  for (const value of values) if (value < least || Number.isNaN(value)) least = value
  return least
}
