import type { Credits } from '../../../contract/contract.ts'
import { type Operations, rowsWhere } from './operations.ts'

/**
 * Tier 1, for values that include their own charge, taken at once or a moment later. All charges with values of `x` or
 * more were taken when the last of them was read, and the balance was then `x` or more. So for every `x`:
 *
 *     sum of costs with value >= x   <=   start - x
 *
 * Ambiguous charges only lower later values and cannot violate this; a lost update or a skipped charge does.
 */
export interface Majorization {
  readonly observations: number
  /** The largest excess; null if there is none. */
  readonly conflict: {
    /** Of the rows that took too little together, the one with the lowest value. */
    readonly row: number
    /** The row before it in the order of values. If both are charges, they show the same credits. */
    readonly beside: number
    readonly charges: number
    readonly costCredits: Credits
    readonly allowedCredits: Credits
  } | null
}

/** @param start upper bound of the balance before the first charge */
export function readMajorization(operations: Operations, start: Credits): Majorization {
  const { size, costCredits, after, certain, callUs } = operations
  const order = rowsWhere(
    size,
    (row) => certain[row] === 1 && costCredits[row]! > 0 && !Number.isNaN(after[row]!),
    (a, b) => after[b]! - after[a]! || callUs[a]! - callUs[b]!,
  )
  let taken = 0
  let conflict: Majorization['conflict'] = null
  for (let at = 0; at < order.length; at++) {
    const row = order[at]!
    taken += costCredits[row]!
    const allowed = start - after[row]!
    if (taken <= allowed) continue
    if (conflict === null || taken - allowed > conflict.costCredits - conflict.allowedCredits) {
      conflict = {
        row,
        beside: order[at - 1] ?? row,
        charges: at + 1,
        costCredits: taken,
        allowedCredits: allowed,
      }
    }
  }
  return { observations: order.length, conflict }
}
