import type { Credits } from '../../../contract/contract.ts'

/** A fall this many times the cost of everything beside it is no wrong charge; a package that expired is as large. */
const farBeyond = 50

/**
 * Whether a fall is so large that credits expired rather than were charged.
 *
 * @param fell credits that nothing explains
 * @param cost of everything that may have been charged meanwhile
 */
export function looksExpired(fell: Credits, cost: Credits): boolean {
  return fell >= farBeyond * Math.max(1, cost)
}
