import { readNumber, zero } from '../../money/rational.ts'
import { type Ledger, type Lot, ledgerOf, ledgerTimes } from '../../report/usage/ledger.ts'
import type { Session } from '../../store/session/session.ts'
import type { AccountView } from '../settings/account-view.ts'
import { creditsOf, readSums } from './sums.ts'

/** The ledger of an account from its sums `my_use`, which must be of all its keys; null without lots in the settings. */
export async function readLedger(
  session: Session,
  { lots, burnOrder }: Pick<AccountView, 'lots' | 'burnOrder'>,
  nowMs: number,
): Promise<Ledger | null> {
  if (lots === null) return null
  return ledgerOf(lots, await usedBetween(session, lots), burnOrder, nowMs * 1000)
}

/** Credits used before, between and after the times of the lots. */
async function usedBetween(session: Session, lots: readonly Lot[]) {
  const times = ledgerTimes(lots)
  const segment = `len(list_filter([${times.join()}]::BIGINT[], lambda time: time <= first_us))`
  const rows = await readSums<{ readonly segment: number }>(
    { session },
    { from: 'my_use', by: { segment: `${segment}::INTEGER` } },
  )
  const used = new Map(rows.map((row) => [row.segment, creditsOf(row)]))
  return Array.from(
    { length: times.length + 1 },
    (_, at) => readNumber(used.get(at) ?? '0') ?? zero,
  )
}
