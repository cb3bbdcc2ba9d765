/**
 * The input of the tiers: the operations of one account on one clock, as columns. Row `i` may have taken credits at
 * one moment in `[callUs, untilUs]`, both ends included: operations whose intervals touch are concurrent.
 *
 *     charge with a value     certain, `after` is the balance in its header
 *     charge without          certain, `after` is NaN: it happened at an unknown place
 *     ambiguous               not certain: it may have happened, or not at all
 *     read                    costs 0, `after` is the value
 */
export interface Operations {
  readonly size: number
  readonly callUs: Float64Array
  readonly untilUs: Float64Array
  readonly costCredits: Float64Array
  /** Balance right after the own charge; NaN if unknown. */
  readonly after: Float64Array
  /** 1 if the charge certainly happened, or the read certainly read. */
  readonly certain: Uint8Array
}

/** Whether the balance shows where the operation happened. */
export const isPlaced = ({ certain, after }: Operations, row: number): boolean =>
  certain[row] === 1 && !Number.isNaN(after[row]!)

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

/** Rows usually come in the right order, and checking is cheaper than sorting. */
function isSorted(rows: Int32Array, compare: (a: number, b: number) => number): boolean {
  for (let at = 1; at < rows.length; at++) if (compare(rows[at - 1]!, rows[at]!) > 0) return false
  return true
}
