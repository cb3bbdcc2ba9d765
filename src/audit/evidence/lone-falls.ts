import type { Contract, Credits } from '../../contract/contract.ts'
import type { BalanceReading } from './billing/balance-reading.ts'
import { excessOf, type Segment } from './billing/conservation.ts'
import { type BalanceHistory, effects } from './billing/history.ts'
import { otherCause } from './other-cause.ts'

/** Falls of a balance while no request was sent that could cost as much. */
export interface LoneFalls {
  readonly segments: readonly Segment[]
  readonly credits: Credits
}

/**
 * Credits that disappeared between two idle values with only reads of the same key in between, and nothing on other
 * accounts of the run. One fall alone is no sign of other traffic, nor are falls that reads of a credit each explain,
 * nor falls that are balanced elsewhere, as late charges are.
 *
 * @param readings those of one run
 */
export function loneFallsOf(
  reading: BalanceReading,
  readings: readonly BalanceReading[],
  contract: Contract,
): LoneFalls | null {
  const { history, conservation } = reading
  const others = readings.filter((each) => each !== reading).map((each) => each.history)
  const falls = conservation.segments.filter(
    (segment) =>
      excessOf(segment) > 0 &&
      holdsReadsAlone(history, segment) &&
      otherCause(contract, segment, excessOf(segment)) === null &&
      !others.some((other) =>
        isBusy(other, history.callUs[segment.from]!, history.endUs[segment.to]!),
      ),
  )
  const credits = falls.reduce((sum, segment) => sum + excessOf(segment), 0)
  const inAll = conservation.segments.reduce((sum, segment) => sum + excessOf(segment), 0)
  const beyondReads = falls.some((segment) => excessOf(segment) > segment.to - segment.from)
  return falls.length >= 2 && beyondReads && inAll >= credits ? { segments: falls, credits } : null
}

function holdsReadsAlone(
  { effect, key }: BalanceHistory,
  { from, to, ambiguous }: Segment,
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
