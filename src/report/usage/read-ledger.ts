import { readNumber } from '../../money/rational.ts'
import { literal, textList } from '../../store/literal.ts'
import type { Session } from '../../store/session/session.ts'
import type { ModelShare } from './burn-down.ts'
import type { UsageEngine } from './engine/engine.ts'
import * as queries from './engine/queries.ts'
import { type HeldRow, holdingsOfRows } from './imported-lots.ts'
import { type BurnOrder, type Holdings, type Ledger, ledgerOf } from './ledger.ts'
import { namedModels } from './payers.ts'

/**
 * What the account of the relations got by imported rows. Without an account it is that of all use, if there is only one: credits of
 * several are not one balance.
 *
 * @returns null without a row that gives credits
 */
export async function readImported(
  session: Session,
  engine: UsageEngine,
  { account, burnOrder }: { readonly account: string | null; readonly burnOrder: BurnOrder },
): Promise<Holdings | null> {
  await engine.fill(session, 'usage_held_rows', queries.heldRows)
  const rows = await session.rows<HeldRow>(
    'SELECT source, id, at_us, type::VARCHAR AS type, credits::VARCHAR AS credits, unit, terms FROM usage_held_rows',
  )
  const holdings = holdingsOfRows(rows, burnOrder)
  if (holdings === null || account !== null) return holdings
  await engine.fill(session, 'usage_used_by', queries.usedBy)
  const [named] = await session.rows<{ accounts: number }>(
    `SELECT count(DISTINCT coalesce(account, '')) AS accounts
     FROM (SELECT account FROM usage_held_rows UNION ALL SELECT account FROM usage_used_by)`,
  )
  return named!.accounts === 1 ? holdings : null
}

/** The ledger of what an account got, after all its use in the relations of the engine. @param nowUs Unix microseconds */
export async function readLedger(
  session: Session,
  engine: UsageEngine,
  holdings: Holdings,
  nowUs: number,
): Promise<Ledger> {
  const { lots, burnOrder, taken, unit } = holdings
  await session.execute(
    `SET VARIABLE usage_lot_models = ${textList(namedModels(lots))}; SET VARIABLE usage_ledger_unit = ${literal(unit)}`,
  )
  await engine.fill(session, 'usage_ledger_uses', queries.ledgerUses(holdings))
  const rows = await session.rows<{ segment: number; named: string | null; credits: string }>(
    `SELECT segment::INTEGER AS segment, named, credits::VARCHAR AS credits FROM usage_ledger_uses WHERE credits IS NOT NULL`,
  )
  const uses = rows.map(({ segment, named, credits }) => ({
    ...{ segment, model: named },
    credits: readNumber(credits)!,
  }))
  return ledgerOf(lots, uses, burnOrder, nowUs, taken)
}

/** Of which models the credits of the period are; undefined if no lot names one. `readLedger` comes first. */
export async function readMix(
  session: Session,
  engine: UsageEngine,
  { lots }: Holdings,
): Promise<readonly ModelShare[] | undefined> {
  if (namedModels(lots).length === 0) return undefined
  await engine.fill(session, 'usage_ledger_mix', queries.ledgerMix(lots))
  const rows = await session.rows<{ model: string | null; credits: number }>(
    'SELECT named AS model, credits::DOUBLE AS credits FROM usage_ledger_mix WHERE credits > 0 ORDER BY named',
  )
  const all = rows.reduce((sum, { credits }) => sum + credits, 0)
  return all === 0 ? undefined : rows.map(({ model, credits }) => ({ model, share: credits / all }))
}
