import type { Contract } from '../../../contract/contract.ts'
import type { BalanceReading } from '../../evidence/billing/balance-reading.ts'
import { effects } from '../../evidence/billing/history.ts'
import { misread } from './misread.ts'
import { rowsOf, type SeenStretch, undisturbedStretches } from './stretches.ts'

/** A charge that is the only one between two idle values. */
export interface Single {
  readonly reading: BalanceReading
  readonly row: number
  /** Place in the contract's list. */
  readonly model: number
  readonly price: number
  readonly took: number
}

/** The charge of a stretch with exactly one charge and no failure. */
export function singleCharge(seen: SeenStretch): readonly Single[] {
  const { reading, stretch } = seen
  // A balance that rose was topped up meanwhile.
  if (stretch.charges !== 1 || stretch.taken < 0) return []
  if (rowsOf(seen, 'failure').length > 0) return []
  const [row] = rowsOf(seen, 'charge')
  if (row === undefined) return []
  const { model, costCredits, effect } = reading.history
  // A failure may show the balance before a charge of its own, which then falls into this stretch: more is taken than its successes cost.
  if (effect[stretch.from] === effects.failure && stretch.taken > stretch.sure) return []
  return [{ reading, row, model: model[row]!, price: costCredits[row]!, took: stretch.taken }]
}

export const isRight = ({ took, price }: Single) => took === price
export const isWrong = (single: Single) => !isRight(single)
export const calledUs = ({ reading, row }: Single) => reading.history.callUs[row]!

/** Isolated charges, and how many more have a wrong price only beside a value that is off (`misread`). */
export function singlesOf(readings: readonly BalanceReading[], contract: Contract) {
  const off = misread(readings)
  const isOff = ({ stretch }: SeenStretch) => off.has(stretch)
  const all = undisturbedStretches(readings, contract)
  return {
    alone: all.filter((seen) => !isOff(seen)).flatMap(singleCharge),
    beside: all.filter(isOff).flatMap(singleCharge).filter(isWrong).length,
  }
}
