import type { Credits } from '../../../contract/contract.ts'

/** A fall this many times the cost of everything beside it is no wrong charge; a package that expired is as large. */
const farBeyond = 50

/** Whether so many unexplained credits expired rather than were charged, next to the cost of all that may have been. */
export const looksExpired = (fell: Credits, cost: Credits): boolean =>
  fell >= farBeyond * Math.max(1, cost)
