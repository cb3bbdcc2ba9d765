import type { Contract } from '../../../contract/contract.ts'
import type { BalanceReading } from '../../evidence/billing/balance-reading.ts'
import { excessOf, type Segment } from '../../evidence/billing/conservation.ts'
import { type BalanceHistory, effects } from '../../evidence/billing/history.ts'
import { mayBeMoved } from '../../evidence/other-cause.ts'

/** A stretch between two idle values, with its rows: `(from, to]` in call order. */
export interface Stretch {
  readonly reading: BalanceReading
  readonly segment: Segment
  /** Positive: too much was taken. */
  readonly excess: number
}

/** Stretches without ambiguous attempts, in readings whose charges settle in time. */
export function clearStretches(readings: readonly BalanceReading[]): readonly Stretch[] {
  return readings
    .filter((reading) => reading.fits !== 'late')
    .flatMap((reading) =>
      reading.conservation.segments
        .filter((segment) => segment.ambiguous === 0)
        .map((segment) => ({ reading, segment, excess: excessOf(segment) })),
    )
}

/** A run rarely sees more expiries than this; a more frequent fall is a price. */
const mostExpiries = 3

/** Clear stretches without those in which credits may have been bought, granted or expired. */
export function undisturbedStretches(
  readings: readonly BalanceReading[],
  contract: Contract,
): readonly Stretch[] {
  return readings.flatMap((reading) => {
    const stretches = clearStretches([reading])
    const moved = new Set(stretches.filter(({ segment }) => mayBeMoved(contract, segment)))
    const expired = [...moved].filter(({ excess }) => excess > 0)
    if (expired.length > mostExpiries) for (const stretch of expired) moved.delete(stretch)
    return stretches.filter((stretch) => !moved.has(stretch))
  })
}

export function rowsOf(
  { reading: { history }, segment }: Stretch,
  effect: keyof typeof effects,
): readonly number[] {
  const rows: number[] = []
  for (let row = segment.from + 1; row <= segment.to; row++) {
    if (history.effect[row] === effects[effect]) rows.push(row)
  }
  return rows
}

/** Whether every value of the reading is explained, so the charge of each request is known. */
export function isAccounted({ fits, intervals, doubt }: BalanceReading): boolean {
  return fits === 'exact' && intervals.uncertainCredits === 0 && doubt === null
}

export function countRows(history: BalanceHistory, choose: (row: number) => boolean): number {
  let count = 0
  for (let row = 0; row < history.size; row++) if (choose(row)) count++
  return count
}
