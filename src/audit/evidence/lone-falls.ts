import type { Contract, Credits } from '../../contract/contract.ts'
import type { BalanceReading } from './billing/balance-reading.ts'
import type { Stretch } from './billing/conservation.ts'
import { type BalanceHistory, effects } from './billing/history.ts'
import { otherCause } from './other-cause.ts'

/** Falls of a balance while no request was sent that could cost as much. */
export interface LoneFalls {
  readonly stretches: readonly Stretch[]
  readonly credits: Credits
}

/**
 * Credits that disappeared between two idle values with only reads of the same key in between, and nothing on the run's other
 * accounts. One fall alone is no sign, nor are falls of a credit for each read, nor ones that are balanced elsewhere.
 */
export function loneFallsOf(
  reading: BalanceReading,
  readings: readonly BalanceReading[],
  contract: Contract,
): LoneFalls | null {
  const { history, conservation } = reading
  const others = readings.filter((each) => each !== reading).map((each) => each.history)
  const falls = conservation.stretches.filter(
    (stretch) =>
      stretch.excess > 0 &&
      holdsReadsAlone(history, stretch) &&
      otherCause(contract, stretch, stretch.excess) === null &&
      !others.some((other) =>
        isBusy(other, history.callUs[stretch.from]!, history.endUs[stretch.to]!),
      ),
  )
  const credits = falls.reduce((sum, stretch) => sum + stretch.excess, 0)
  const inAll = conservation.stretches.reduce((sum, stretch) => sum + stretch.excess, 0)
  const beyondReads = falls.some((stretch) => stretch.excess > stretch.to - stretch.from)
  return falls.length >= 2 && beyondReads && inAll >= credits ? { stretches: falls, credits } : null
}

function holdsReadsAlone(
  { effect, key }: BalanceHistory,
  { from, to, ambiguous }: Stretch,
): boolean {
  if (ambiguous > 0 || key[from] !== key[to]) return false
  return effect.subarray(from + 1, to + 1).every((each) => each === effects.read)
}

function isBusy(
  { size, callUs, endUs, effect }: BalanceHistory,
  fromUs: number,
  toUs: number,
): boolean {
  for (let row = 0; row < size && callUs[row]! <= toUs; row++) {
    if (effect[row] !== effects.read && endUs[row]! >= fromUs) return true
  }
  return false
}
