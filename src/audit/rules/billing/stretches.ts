import type { Contract } from '../../../contract/contract.ts'
import type { BalanceReading } from '../../evidence/billing/balance-reading.ts'
import type { Stretch } from '../../evidence/billing/conservation.ts'
import { type BalanceHistory, effects } from '../../evidence/billing/history.ts'
import { mayBeMoved } from '../../evidence/other-cause.ts'

/** A stretch between two idle values, in the reading that shows it. Its rows are `(from, to]` in call order. */
export interface SeenStretch {
  readonly reading: BalanceReading
  readonly stretch: Stretch
}

/** Stretches without ambiguous attempts, in readings whose charges settle in time. */
export function clearStretches(readings: readonly BalanceReading[]): readonly SeenStretch[] {
  return readings
    .filter((reading) => reading.fits !== 'late')
    .flatMap((reading) =>
      reading.conservation.stretches
        .filter((stretch) => stretch.ambiguous === 0)
        .map((stretch) => ({ reading, stretch })),
    )
}

/** A run rarely sees more expiries than this; a more frequent fall is a price. */
const mostExpiries = 3

/** Clear stretches without those in which credits may have been bought, granted or expired. */
export function undisturbedStretches(
  readings: readonly BalanceReading[],
  contract: Contract,
): readonly SeenStretch[] {
  return readings.flatMap((reading) => {
    const stretches = clearStretches([reading])
    const moved = new Set(stretches.filter(({ stretch }) => mayBeMoved(contract, stretch)))
    const expired = [...moved].filter(({ stretch: { excess } }) => excess > 0)
    if (expired.length > mostExpiries) for (const seen of expired) moved.delete(seen)
    return stretches.filter((seen) => !moved.has(seen))
  })
}

export function rowsOf(
  { reading: { history }, stretch }: SeenStretch,
  effect: keyof typeof effects,
): readonly number[] {
  const rows: number[] = []
  for (let row = stretch.from + 1; row <= stretch.to; row++) {
    if (history.effect[row] === effects[effect]) rows.push(row)
  }
  return rows
}

/** Whether every value of the reading is explained, so the charge of each request is known. */
export const isAccounted = ({ fits, intervals, doubt }: BalanceReading): boolean =>
  fits === 'exact' && intervals.uncertainCredits === 0 && doubt === null

export function countRows(history: BalanceHistory, choose: (row: number) => boolean): number {
  let count = 0
  for (let row = 0; row < history.size; row++) if (choose(row)) count++
  return count
}
