import { readNumber, zero } from '../../money/rational.ts'
import { type Ledger, ledgerOf, usesBy } from '../../report/usage/ledger.ts'
import { namedModels } from '../../report/usage/payers.ts'
import { textList } from '../../store/literal.ts'
import type { Session } from '../../store/session/session.ts'
import type { AccountView } from '../settings/account-view.ts'
import { creditsOf, readSums } from './sums.ts'

/** The ledger of an account from its sums `my_use`, which must be of all its keys; null without lots in the settings. */
export async function readLedger(
  session: Session,
  { holdings }: Pick<AccountView, 'holdings'>,
  nowMs: number,
): Promise<Ledger | null> {
  if (holdings === null) return null
  const { lots, burnOrder } = holdings
  const rows = await readSums<{ readonly segment: number; readonly named: string | null }>(
    { session },
    { from: 'my_use', by: usesBy(lots, textList(namedModels(lots))) },
  )
  const uses = rows.map((row) => ({
    ...{ segment: row.segment, model: row.named },
    credits: readNumber(creditsOf(row) ?? '0') ?? zero,
  }))
  return ledgerOf(lots, uses, burnOrder, nowMs * 1000)
}
