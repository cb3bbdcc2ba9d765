/** How many of `count` places in order come first: `isBefore` holds for those, and for no later one. */
export function countWhile(count: number, isBefore: (at: number) => boolean): number {
  let [low, high] = [0, count]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBefore(middle)) low = middle + 1
    else high = middle
  }
  return low
}

/** Counts the values of a sorted list below a bound. */
export const countBelow = (sorted: ArrayLike<number>, bound: number): number =>
  countWhile(sorted.length, (at) => sorted[at]! < bound)

/** Counts the values of a sorted list at or below a bound. */
export const countUpTo = (sorted: ArrayLike<number>, bound: number): number =>
  countWhile(sorted.length, (at) => sorted[at]! <= bound)
