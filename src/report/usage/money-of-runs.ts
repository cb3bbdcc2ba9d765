import type { Contract } from '../../contract/contract.ts'
import { decimalText } from '../../money/rational.ts'
import { costRational } from '../../price/attempts/attempt-costs.ts'
import { readRunCosts } from '../../price/attempts/run-costs.ts'
import { literal } from '../../store/literal.ts'
import type { Session } from '../../store/session/session.ts'
import { fillTable } from '../temp-table.ts'

/**
 * Gives the requests of runs a cost in money, in the view `usage` of this operation, if their contract has prices. A cost
 * that is not known stays null.
 */
export async function enterCosts(session: Session, contract: Contract): Promise<void> {
  if (contract.prices === undefined) return
  const runs = await session.rows<{ id: string }>(
    'SELECT run_id AS id FROM runs WHERE contract = $1',
    [contract.name],
  )
  if (runs.length === 0) return
  const priced = await readRunCosts(
    session,
    runs.map(({ id }) => id),
    contract,
  )
  if (priced === null) return
  const names = Object.keys(priced.keySql)
  const isText = (name: string) =>
    ['model', 'response_model', 'outcome', 'finish_reason', 'service_tier'].includes(name)
  const keys = Object.fromEntries(names.map((name) => [name, isText(name) ? 'VARCHAR' : 'BIGINT']))
  const rows = priced.kinds.map(({ runId, step, units, key }) => ({
    ...key,
    run_id: runId,
    step,
    amount: units === null ? null : decimalText(costRational(units)),
  }))
  const columns = { ...keys, run_id: 'VARCHAR', step: 'VARCHAR', amount: 'DECIMAL(38,18)' }
  await fillTable(session, 'cost_kinds', columns, rows)
  const on = names.map(
    (name) => `cost_kinds."${name}" IS NOT DISTINCT FROM (${priced.keySql[name]})`,
  )
  const [own] = await session.rows<{ name: string }>('SELECT current_database() AS name')
  await session.execute(`
    CREATE OR REPLACE TEMP TABLE attempt_costs AS
      SELECT attempts.run_id, attempts.slot::VARCHAR || '.' || attempts.retry::VARCHAR AS id, amount
      FROM ${priced.from}
        JOIN cost_kinds ON cost_kinds.run_id = attempts.run_id AND cost_kinds.step = attempts.step AND ${on.join(' AND ')}
      WHERE ${priced.where};
    CREATE OR REPLACE TEMP VIEW usage AS
      SELECT each.* REPLACE (
        CASE WHEN attempt_costs.run_id IS NULL THEN each.credits ELSE attempt_costs.amount END AS credits,
        CASE WHEN attempt_costs.run_id IS NULL THEN each.possible_credits ELSE attempt_costs.amount END AS possible_credits,
        CASE WHEN attempt_costs.run_id IS NULL THEN each.unit ELSE ${literal(priced.unit)} END AS unit)
      FROM "${own!.name}".main.usage AS each
      LEFT JOIN attempt_costs ON each.origin = 'run' AND attempt_costs.run_id = each.source AND attempt_costs.id = each.id`)
}
