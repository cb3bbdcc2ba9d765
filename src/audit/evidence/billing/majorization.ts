import type { Credits } from '../../../contract/contract.ts'
import { type Operations, rowsWhere } from './operations.ts'

/**
 * Tier 1, for values that include their own charge, whether taken at once or read a moment later:
 * charges whose values are `x` or more were all taken by the time the last of them was read, and
 * the balance was `x` or more then. So for every `x`:
 *
 *     sum of costs with value >= x   <=   start - x
 *
 * Ambiguous charges cannot break it, since they only lower later values; a lost update or a
 * skipped charge does.
 */
export interface Majorization {
  readonly observations: number
  /** The worst excess; null for none. */
  readonly fault: {
    /** The row with the lowest value of those that took too little together. */
    readonly row: number
    /** The row before it in the order of values: they show the same credits when both are charges. */
    readonly beside: number
    readonly charges: number
    readonly costCredits: Credits
    readonly allowedCredits: Credits
  } | null
}

/** @param start the most that the balance can have been before the first charge */
export function readMajorization(operations: Operations, start: Credits): Majorization {
  const { size, costCredits, after, certain, callUs } = operations
  const order = rowsWhere(
    size,
    (row) => certain[row] === 1 && costCredits[row]! > 0 && !Number.isNaN(after[row]!),
    (a, b) => after[b]! - after[a]! || callUs[a]! - callUs[b]!,
  )
  let taken = 0
  let fault: Majorization['fault'] = null
  for (let at = 0; at < order.length; at++) {
    const row = order[at]!
    taken += costCredits[row]!
    const allowed = start - after[row]!
    if (taken <= allowed) continue
    if (fault === null || taken - allowed > fault.costCredits - fault.allowedCredits) {
      fault = {
        row,
        beside: order[at - 1] ?? row,
        charges: at + 1,
        costCredits: taken,
        allowedCredits: allowed,
      }
    }
  }
  return { observations: order.length, fault }
}
