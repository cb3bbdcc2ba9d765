import { multiply, rational, subtract } from '../../money/rational.ts'
import type { LogRow } from './charge.ts'
import { nothing } from './sheet.ts'

const inAdvance = rational(5n, 4n)

/** A charge in advance, and a row without tokens that gives back what was too much. */
export function settled(row: LogRow): readonly LogRow[] {
  const advance = multiply(row.cost, inAdvance)
  return [
    { ...row, cost: advance },
    { ...row, counts: {}, cost: subtract(row.cost, advance) },
  ]
}

/** The row of an attempt that failed inside, and costs nothing. */
export const failedAttempt = (row: LogRow): LogRow => ({ ...row, counts: {}, cost: nothing })
