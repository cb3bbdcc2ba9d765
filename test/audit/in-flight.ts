import type { AttemptRow } from '../../src/attempt/columns.ts'
import { attempt } from '../report/attempts.ts'

/** An attempt in flight from one second to another, which shows a balance or none. */
export function inFlight(
  slot: number,
  fromS: number,
  toS: number,
  creditsRemaining: number | null,
  more: Partial<AttemptRow> = {},
): AttemptRow {
  return attempt(slot, {
    sentUs: fromS * 1e6,
    headersUs: toS * 1e6,
    doneUs: toS * 1e6,
    closedUs: toS * 1e6,
    creditsRemaining,
    ...more,
  })
}

/** A separate read of the balance. */
export function read(
  slot: number,
  atS: number,
  balance: number | null,
  more: Partial<AttemptRow> = {},
): AttemptRow {
  return inFlight(slot, atS, atS + 0.1, balance, { endpoint: 'credits', model: null, ...more })
}
