/** In how many orders two groups of so many can stand, up to `most`: a greater number ends the count. */
export function ordersOf(a: number, b: number, most: number): number {
  let count = 1
  for (let nth = 1; nth <= Math.min(a, b) && count < most; nth++)
    count = (count * (Math.max(a, b) + nth)) / nth
  return count
}

/** `2026-11-25 12:00:03 UTC`: the moment from which amounts are others. */
export const momentText = (ms: number) =>
  new Date(ms)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, ' UTC')
