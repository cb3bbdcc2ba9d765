import type { Contract } from '../../../contract/contract.ts'
import type { BalanceReading } from '../../evidence/billing/balance-reading.ts'
import { excessOf, type Segment } from '../../evidence/billing/conservation.ts'
import { effects, type History } from '../../evidence/billing/history.ts'
import { mayBeMoved } from '../../evidence/other-cause.ts'

/** A stretch between two idle values, with the rows that it holds: `(from, to]` in call order. */
export interface Stretch {
  readonly reading: BalanceReading
  readonly segment: Segment
  /** Above zero: taken too much. */
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

/** More packages than this hardly expire in one run; what falls so often is a price. */
const mostExpiries = 3

/** Clear stretches but for those in which credits were bought, granted or expired, as far as that can be. */
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

/** Rows of a stretch with this effect. */
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

/** Whether every value of the reading is accounted for, so that each request's charge is known. */
export function isAccounted({ fits, tiles, doubt }: BalanceReading): boolean {
  return fits === 'exact' && tiles.uncertainCredits === 0 && doubt === null
}

/** How many rows of a history are chosen. */
export function countRows(history: History, choose: (row: number) => boolean): number {
  let count = 0
  for (let row = 0; row < history.size; row++) if (choose(row)) count++
  return count
}
