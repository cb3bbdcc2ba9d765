import { readNumber, zero } from '../../money/rational.ts'
import { type HeldRow, holdingsOfRows } from '../../report/usage/imported-lots.ts'
import {
  type Holdings,
  type Ledger,
  ledgerOf,
  ledgerTimes,
  usesBy,
} from '../../report/usage/ledger.ts'
import { namedModels } from '../../report/usage/payers.ts'
import { textList } from '../../store/literal.ts'
import type { Session } from '../../store/session/session.ts'
import type { AccountView } from '../settings/account-view.ts'
import { rowsCutAt, useNow } from './rows.ts'
import { loggedIn, readFigures } from './sums.ts'

type Held = Pick<AccountView, 'holdings' | 'burnOrder' | 'timezone'>

/** What an account got: by the settings, else by its imported rows `my_held`; null without either. */
export async function readHoldings(
  session: Session,
  { holdings, burnOrder }: Pick<Held, 'holdings' | 'burnOrder'>,
): Promise<Holdings | null> {
  if (holdings !== null) return holdings
  const rows = await session.rows<HeldRow>(
    'SELECT source, id, at_us, type, credits::VARCHAR AS credits, unit, terms FROM my_held',
  )
  return holdingsOfRows(rows, burnOrder)
}

/** The ledger of an account from its sums as they are now, which must be of all its keys; null if it is not known what the account got. */
export async function readLedger(
  session: Session,
  view: Held,
  nowMs: number,
): Promise<(Ledger & Pick<Holdings, 'asOfUs' | 'unit'>) | null> {
  const holdings = await readHoldings(session, view)
  if (holdings === null) return null
  const { lots, burnOrder, taken, asOfUs, unit } = holdings
  const rows = await readFigures<
    { readonly segment: number; readonly named: string | null },
    never
  >({ session }, [], {
    from: rowsCutAt({ view }, ledgerTimes(lots, taken), useNow),
    by: usesBy(holdings, textList(namedModels(lots))),
  })
  const uses = rows.map((row) => ({
    ...{ segment: row.segment, model: row.named },
    credits: readNumber(loggedIn(row.amounts, unit, 'used') ?? '0') ?? zero,
  }))
  return { ...ledgerOf(lots, uses, burnOrder, nowMs * 1000, taken), asOfUs, unit }
}
