import { sqlName } from '../attempt/columns.ts'
import { shownIn } from '../measure/measures.ts'
import { standings } from '../measure/standings.ts'
import { literal } from '../store/literal.ts'
import type { Session } from '../store/session/session.ts'
import { hasObjectives } from './scope.ts'
import { percentiles } from './summary/distribution-shape.ts'
import type { SummaryGroup } from './summary/group-shape.ts'
import { readGroups } from './summary/groups.ts'
import { fillTable } from './temp-table.ts'

const shown = shownIn('everywhere', 'pages')

/**
 * Creates the summary tables for the queries of a page; a null step is all steps together. They are `shown_figures`
 * (place, step, metric, n, cut_ms, mean_ms, p50_ms … p999_ms) and `shown_counts` (place, step, and each count). Pages
 * thus show the same figures as the terminal.
 *
 * @returns all steps together, and each
 */
export async function prepareFigures(
  session: Session,
): Promise<{ readonly all: SummaryGroup; readonly steps: readonly SummaryGroup[] }> {
  // Gaps are read on a separate connection, which has no temporary tables.
  const runs = await session.rows<{ run_id: string; has_objectives: boolean }>(
    `SELECT run_id, ${hasObjectives} AS has_objectives FROM shown_runs`,
  )
  const [all, ...steps] = await readGroups(
    session,
    {
      from: '(FROM shown_attempts WHERE counted)',
      histograms: `run_id IN (${runs.map(({ run_id }) => literal(run_id)).join(', ')}) AND ${standings.counted.sql}`,
      parameters: [],
      offsetUs: 'offset_us',
      good: runs.some((run) => run.has_objectives) ? 'good' : null,
      maybeGood: runs.some((run) => run.has_objectives) ? 'maybe_good' : null,
    },
    shown,
  )
  // All steps together come last.
  const groups = [...steps, all!]
  const ms = (us: number | null) => (us === null ? null : us / 1000)
  await fillTable(
    session,
    'shown_figures',
    {
      ...{ place: 'INTEGER', step: 'VARCHAR', metric: 'VARCHAR', n: 'BIGINT' },
      ...{ cut_ms: 'DOUBLE', mean_ms: 'DOUBLE' },
      ...Object.fromEntries(percentiles.map(([name]) => [`${name}_ms`, 'DOUBLE'])),
    },
    groups.flatMap(({ step, metrics }, place) =>
      [...shown, 'itl' as const].map((name) => ({
        place,
        step,
        metric: sqlName(name),
        n: metrics[name].n,
        cut_ms: ms(metrics[name].lowestCensoredUs),
        mean_ms: ms(metrics[name].meanUs),
        ...Object.fromEntries(
          percentiles.map(([percentile]) => [`${percentile}_ms`, ms(metrics[name][percentile].us)]),
        ),
      })),
    ),
  )
  const counts = Object.keys(all!.counts) as (keyof SummaryGroup['counts'])[]
  await fillTable(
    session,
    'shown_counts',
    {
      ...{ place: 'INTEGER', step: 'VARCHAR' },
      ...Object.fromEntries(counts.map((name) => [sqlName(name), 'BIGINT'])),
    },
    groups.map((group, place) => ({
      place,
      step: group.step,
      ...Object.fromEntries(counts.map((name) => [sqlName(name), group.counts[name]])),
    })),
  )
  return { all: all!, steps }
}
