import type { Contract } from '../contract/contract.ts'
import type { Session } from '../store/session/session.ts'
import { moneyEach, readTasks } from './summary/tasks.ts'
import { fillTable } from './temp-table.ts'

/**
 * Creates `shown_task_costs` (run_id, task, tasks, credits_each, cost_each) for the queries of a page: what a task of each
 * name cost, by the contract. An amount of money is a text with its unit.
 */
export async function prepareTaskCosts(session: Session, contract: Contract): Promise<void> {
  const runs = await session.rows<{ run_id: string }>(
    'SELECT run_id FROM shown_runs ORDER BY run_id',
  )
  const rows = []
  for (const { run_id } of runs) {
    for (const each of await readTasks(session, run_id, contract)) {
      const { task, counts, creditsEach } = each
      rows.push({
        run_id,
        task,
        tasks: counts.tasks,
        credits_each: creditsEach,
        cost_each: moneyEach(each),
      })
    }
  }
  await fillTable(
    session,
    'shown_task_costs',
    {
      run_id: 'VARCHAR',
      task: 'VARCHAR',
      tasks: 'INTEGER',
      credits_each: 'DOUBLE',
      cost_each: 'VARCHAR',
    },
    rows,
  )
}
