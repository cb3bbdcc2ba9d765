import { sqlName } from '../../attempt/columns.ts'
import { taskOutcomes } from '../../attempt/outcome.ts'
import { type Contract, pricesOf } from '../../contract/contract.ts'
import { creditsSql } from '../../measure/credits.ts'
import { type TaskMeasureName, taskMeasures } from '../../measure/task-measures.ts'
import { shownAmount } from '../../money/money.ts'
import { divide, rational, readNumber } from '../../money/rational.ts'
import { readRunCosts } from '../../price/attempts/run-costs.ts'
import { hasRows } from '../../store/has-rows.ts'
import { literal } from '../../store/literal.ts'
import type { Session } from '../../store/session/session.ts'
import { distributionOf, type Figures } from './distribution.ts'
import { percentiles } from './distribution-shape.ts'
import { sumOf } from './money.ts'
import type { RunSummary } from './shape.ts'

type TaskSummary = RunSummary['tasks'][number]

const names = Object.keys(taskMeasures) as readonly TaskMeasureName[]

type Row = TaskSummary['counts'] &
  Readonly<Record<`${TaskMeasureName} times`, Figures>> & {
    readonly task: string
    readonly requests: number
    readonly credits: number | null
  }

/** Those that started at their start, of the steady part, or of the whole run if none is in it. */
const chosenTasks = (runId: string) => `(
  SELECT * FROM task_values WHERE run_id = ${runId} AND skipped = 0 AND (part = 'steady' OR NOT EXISTS (
    FROM task_values WHERE run_id = ${runId} AND part = 'steady' AND skipped = 0)))`

/** Tasks of the steady part, or of the whole run if none is in it. */
export async function readTasks(
  session: Session,
  runId: string,
  contract: Contract,
): Promise<RunSummary['tasks']> {
  if (!(await hasRows(session, 'tasks WHERE run_id = $1', [runId]))) return []
  const figures = names.map((name) => {
    const us = `${sqlName(name)}_us`
    return `{
      n: count(${us}), censored: count(${us}) FILTER (cut),
      lowest_censored: (min(${us}) FILTER (cut))::DOUBLE, below: count(*) FILTER (${us} < lowest_${us}),
      mean: avg(${us}), q: quantile_cont(${us}, [0, ${percentiles.map(([, p]) => p).join(', ')}, 1])
    } AS "${name} times"`
  })
  const lowest = names.map((name) => {
    const us = `${sqlName(name)}_us`
    return `min(${us}) FILTER (cut) OVER (PARTITION BY task) AS lowest_${us}`
  })
  const ended = (outcome: string) => `count(*) FILTER (outcome = '${outcome}') AS ${outcome}`
  const credits = creditsSql(pricesOf(contract))
  const rows = await session.rows<Row>(
    `WITH
       spent AS (
         SELECT session, sum(${credits})::DOUBLE AS credits, bool_or((${credits}) IS NULL) AS is_open
         FROM attempts WHERE run_id = $1 AND task IS NOT NULL GROUP BY session),
       chosen AS (
         SELECT tasks.*, credits, coalesce(is_open, true) AS is_open, ${lowest.join(', ')}
         FROM ${chosenTasks('$1')} AS tasks LEFT JOIN spent USING (session))
     SELECT task, count(*) AS tasks, ${taskOutcomes.map(ended).join(', ')},
       avg(requests) FILTER (judged) AS requests,
       CASE WHEN NOT bool_or(is_open) FILTER (judged) THEN avg(credits) FILTER (judged) END AS credits,
       ${figures.join(', ')}
     FROM chosen GROUP BY task ORDER BY task`,
    [runId],
  )
  const paid = await readTaskCosts(session, runId, contract)
  return rows.map((row) => ({ ...summaryOf(row), money: paid(row.task) }))
}

/** What the judged tasks of a name cost together; null if the contract states no prices. */
async function readTaskCosts(
  session: Session,
  runId: string,
  contract: Contract,
): Promise<(task: string) => TaskSummary['money']> {
  const priced = await readRunCosts(session, [runId], contract, {
    by: 'attempts.task',
    where: `attempts.task IS NOT NULL AND attempts.session IN (SELECT session FROM ${chosenTasks(literal(runId))} WHERE judged)`,
  })
  if (priced === null) return () => null
  const { unit, kinds } = priced
  return (task) => ({ unit, ...sumOf(kinds.filter(({ step }) => step === task)) })
}

/** How many did not end with the run: `judged` of `task_values`. */
const judgedOf = ({ tasks, stopped }: TaskSummary['counts']) => tasks - stopped

function summaryOf({ task, requests, credits, ...row }: Row): Omit<TaskSummary, 'money'> {
  const { tasks, ok, failed, deadline, stopped } = row
  const counts = {
    tasks: Number(tasks),
    ok: Number(ok),
    failed: Number(failed),
    deadline: Number(deadline),
    stopped: Number(stopped),
  }
  const judged = judgedOf(counts)
  return {
    task,
    counts,
    success: judged === 0 ? null : counts.ok / judged,
    requestsEach: requests,
    creditsEach: credits,
    times: {
      task: distributionOf(row['task times']),
      taskService: distributionOf(row['taskService times']),
    },
  }
}

/** What one of these tasks cost on average, such as `0.012 USD`; null if nothing of it has a price. */
export function moneyEach({ counts, money }: RunSummary['tasks'][number]): string | null {
  if (money === null || money.priced === 0) return null
  const each = divide(readNumber(money.spent)!, rational(BigInt(judgedOf(counts))))
  return `${money.unknown > 0 ? 'at least ' : ''}${shownAmount(each, money.unit)}`
}
