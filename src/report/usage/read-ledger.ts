import { readNumber } from '../../money/rational.ts'
import { textList } from '../../store/literal.ts'
import type { Session } from '../../store/session/session.ts'
import type { ModelShare } from './burn-down.ts'
import type { UsageEngine } from './engine/engine.ts'
import * as queries from './engine/queries.ts'
import { type Holdings, type Ledger, ledgerOf } from './ledger.ts'
import { namedModels } from './payers.ts'

/** The ledger of what an account got, after all its use in the relations of the engine. @param nowUs Unix microseconds */
export async function readLedger(
  store: Session,
  engine: UsageEngine,
  { lots, burnOrder }: Holdings,
  nowUs: number,
): Promise<Ledger> {
  await store.execute(`SET VARIABLE usage_lot_models = ${textList(namedModels(lots))}`)
  await engine.fill(store, 'usage_ledger_uses', queries.ledgerUses(lots))
  const rows = await store.rows<{ segment: number; named: string | null; credits: string }>(
    `SELECT segment::INTEGER AS segment, named, credits::VARCHAR AS credits FROM usage_ledger_uses WHERE credits IS NOT NULL`,
  )
  const uses = rows.map(({ segment, named, credits }) => ({
    ...{ segment, model: named },
    credits: readNumber(credits)!,
  }))
  return ledgerOf(lots, uses, burnOrder, nowUs)
}

/** Of which models the credits of the period are; undefined if no lot names one. `readLedger` comes first. */
export async function readMix(
  store: Session,
  engine: UsageEngine,
  { lots }: Holdings,
): Promise<readonly ModelShare[] | undefined> {
  if (namedModels(lots).length === 0) return undefined
  await engine.fill(store, 'usage_ledger_mix', queries.ledgerMix(lots))
  const rows = await store.rows<{ model: string | null; credits: number }>(
    'SELECT named AS model, credits::DOUBLE AS credits FROM usage_ledger_mix WHERE credits > 0 ORDER BY named',
  )
  const all = rows.reduce((sum, { credits }) => sum + credits, 0)
  return all === 0 ? undefined : rows.map(({ model, credits }) => ({ model, share: credits / all }))
}
