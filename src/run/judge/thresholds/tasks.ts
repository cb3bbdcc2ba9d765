import { pricesOf } from '../../../contract/contract.ts'
import { creditsSql } from '../../../measure/credits.ts'
import { numberOf } from '../../../money/rational.ts'
import type { Threshold } from '../../../scenario/threshold.ts'
import { readOrdered } from '../../../store/read/ordered.ts'
import type { Session } from '../../../store/session/session.ts'
import { counted } from '../../../user/grouped.ts'
import { chosenRows, exactly, type Figure, none, type ThresholdScope } from './figure.ts'
import { shareOf } from './intervals.ts'
import { taskMoney } from './task-money.ts'
import { timeFigure } from './times.ts'

/** A figure of whole tasks; the step of the threshold is the name of a task. */
export async function taskFigure(
  session: Session,
  threshold: Threshold,
  scope: ThresholdScope,
): Promise<Figure> {
  const { where, parameters } = chosenRows(threshold, scope, 'task')
  const { runId, contract } = scope
  const { metric, statistic } = threshold
  const from = `(FROM task_values WHERE ${where.join(' AND ')})`
  if (metric === 'task_success' || metric === 'tasks') {
    const count = `count(*) FILTER (${metric === 'tasks' ? 'judged' : 'succeeded'})`
    const seconds = `nullif((max(ended_us) - min(intended_us)) / 1e6, 0)`
    const select =
      statistic.kind === 'share'
        ? `${count} / nullif(count(*) FILTER (judged), 0)`
        : statistic.kind === 'rate'
          ? `${count} / ${seconds}`
          : count
    const [row] = await session.rows<{ value: number | null; samples: number }>(
      `SELECT (${select})::DOUBLE AS value, count(*) FILTER (judged) AS samples FROM ${from}`,
      parameters,
    )
    const { value, samples } = row!
    if (value === null || statistic.kind === 'count') return exactly(value, samples)
    const one = 'CASE WHEN judged THEN succeeded::INTEGER END'
    const [ordered] = await readOrdered(
      session,
      from,
      [{ value: one, cut: null }],
      parameters,
      'session',
    )
    if (statistic.kind === 'share') return shareOf(Uint8Array.from(ordered!.values), threshold)
    return exactly(value, samples)
  }
  if (metric === 'task_credits') {
    const credits = creditsSql(pricesOf(contract))
    const statisticSql = { mean: 'avg', min: 'min', max: 'max' }[
      statistic.kind as 'mean' | 'min' | 'max'
    ]
    const [row] = await session.rows<{ value: number | null; samples: number; unknown: number }>(
      `WITH spent AS (
         SELECT session, sum(${credits})::DOUBLE AS credits, count(*) FILTER ((${credits}) IS NULL) AS open
         FROM attempts WHERE run_id = $1 AND task IS NOT NULL GROUP BY session)
       SELECT ${statisticSql}(credits)::DOUBLE AS value, count(*) AS samples, coalesce(sum(open), 0)::INTEGER AS unknown
       FROM ${from} JOIN spent USING (session) WHERE judged`,
      parameters,
    )
    const { value, samples, unknown } = row!
    // A request without a price may cost anything.
    return unknown > 0
      ? { ...none, samples, unknown: `${counted(unknown, 'request')} without a price in credits` }
      : exactly(value, samples)
  }
  if (metric === 'task_cost') {
    const rows = await session.rows<{ session: string }>(
      `SELECT session::VARCHAR AS session FROM ${from} WHERE judged`,
      parameters,
    )
    if (rows.length === 0) return none
    const tasks = new Set(rows.map(({ session }) => session))
    const kind = statistic.kind as 'mean' | 'min' | 'max'
    const money = await taskMoney(session, { runId, contract }, tasks, kind)
    return 'unknown' in money
      ? { ...none, samples: tasks.size, unknown: money.unknown }
      : { ...exactly(numberOf(money.amount), tasks.size), ...money }
  }
  const column = { value: `${metric}_us`, cut: 'cut' }
  return timeFigure(session, threshold, { from, column, parameters, ties: 'session' })
}
