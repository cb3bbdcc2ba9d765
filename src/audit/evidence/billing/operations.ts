/**
 * What the tiers of the billing audit look at: the operations of one account on one clock, as
 * columns. Row `i` may have taken credits at one moment in `[callUs, untilUs]`, both ends included:
 * operations whose intervals touch are concurrent.
 *
 *     charge with a value     certain, `after` is the balance that its header showed
 *     charge without          certain, `after` is NaN: it must have happened, nobody saw where
 *     ambiguous               not certain: it may have happened, or not at all
 *     read                    costs 0, `after` is what it read
 */
export interface Operations {
  readonly size: number
  readonly callUs: Float64Array
  readonly untilUs: Float64Array
  readonly costCredits: Float64Array
  /** Balance right after the own charge; NaN where nobody saw it. */
  readonly after: Float64Array
  /** 1 where the charge surely happened, or the read surely read. */
  readonly certain: Uint8Array
}

/** Rows for which `choose` holds, in their order or sorted by `compare`. */
export function rowsWhere(
  size: number,
  choose: (row: number) => boolean,
  compare?: (a: number, b: number) => number,
): Int32Array {
  const rows = new Int32Array(size)
  let count = 0
  for (let row = 0; row < size; row++) if (choose(row)) rows[count++] = row
  const chosen = rows.subarray(0, count)
  return compare === undefined || isSorted(chosen, compare) ? chosen : chosen.sort(compare)
}

/** Most orders that are asked for are those that rows come in, and a look is cheaper than a sort. */
function isSorted(rows: Int32Array, compare: (a: number, b: number) => number): boolean {
  for (let at = 1; at < rows.length; at++) if (compare(rows[at - 1]!, rows[at]!) > 0) return false
  return true
}
