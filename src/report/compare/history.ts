import type { Contract } from '../../contract/contract.ts'
import { fewestOfHistory, type HistoryStep, stepsOf } from '../../measure/interval/history.ts'
import type { Session } from '../../store/session/session.ts'
import { counted } from '../../user/grouped.ts'
import { randomOf } from '../../user/random.ts'
import { userError } from '../../user/user-error.ts'
import { printable } from '../summary/printable.ts'
import { summariseIn } from '../summary/summarise.ts'
import type { FigureName } from './gate.ts'
import { figureOfRun } from './run-figure.ts'

/** A figure of each valid run of one scenario, oldest first, and where it changed. */
export interface FigureHistory {
  readonly scenario: string
  readonly figure: string
  readonly unit: 'us' | 'per s' | 'share'
  readonly runs: readonly {
    readonly runId: string
    readonly startedAt: string
    readonly value: number
  }[]
  /** Runs without the figure, or that are INVALID. */
  readonly skipped: readonly string[]
  readonly steps: readonly (HistoryStep & { readonly runId: string })[]
}

/**
 * Finds the runs at which a figure changed, among all runs of a scenario in the store.
 *
 * @throws UserError for credits, whose price is exact
 */
export async function readHistory(
  session: Session,
  scenario: string,
  name: FigureName,
  contract: Contract,
): Promise<FigureHistory> {
  if (name.metric === 'credits') {
    throw userError.report(
      `--history "${name.text}": expected a figure that varies from run to run; got credits, which a contract states. Compare two runs instead.`,
    )
  }
  const listed = await session.rows<{ runId: string }>(
    `SELECT run_id AS "runId" FROM runs WHERE scenario = $1 AND kind IN ('run', 'import')
     ORDER BY started_at, run_id`,
    [scenario],
  )
  const runs: FigureHistory['runs'][number][] = []
  const skipped: string[] = []
  for (const { runId } of listed) {
    const summary = await summariseIn(session, runId, contract)
    const value = summary.verdict === 'invalid' ? null : (figureOfRun(summary, name)?.value ?? null)
    if (value === null) skipped.push(runId)
    else runs.push({ runId, startedAt: summary.run.startedAt, value })
  }
  const steps = stepsOf(
    runs.map(({ value }) => value),
    randomOf(1),
  )
  return {
    scenario,
    figure: name.text,
    unit: unitOf(name),
    runs,
    skipped,
    steps: steps.map((step) => ({ ...step, runId: runs[step.at]!.runId })),
  }
}

function unitOf({ metric }: FigureName): FigureHistory['unit'] {
  if (metric === 'errors') return 'share'
  return metric === 'throughput' || metric === 'tokens' ? 'per s' : 'us'
}

/** A history for a terminal: each change with its build, or why there is none. */
export function historyText({
  scenario,
  figure,
  unit,
  runs,
  skipped,
  steps,
}: FigureHistory): string {
  const value = (of: number) => {
    const texts = {
      us: `${(of / 1000).toFixed(1)} ms`,
      share: `${(100 * of).toFixed(2)} %`,
      'per s': `${of.toFixed(1)}/s`,
    }
    return texts[unit]
  }
  const left =
    skipped.length === 0
      ? ''
      : ` Left out: ${counted(skipped.length, 'run')}, INVALID or without it.`
  const head = `${figure} of ${counted(runs.length, 'run')} of ${printable(scenario, 60)}.${left}`
  if (runs.length < fewestOfHistory)
    return `${head}\nToo few runs to detect a change: at least ${fewestOfHistory} are needed.\n`
  if (steps.length === 0) return `${head}\nNo significant change.\n`
  return `${[
    head,
    ...steps.map(({ at, runId, before, after, chance }) => {
      const change = before === 0 ? '' : ` (${((after / before - 1) * 100).toFixed(1)} %)`
      const chanceText = chance <= 0.001 ? 'less than 0.2 %' : `${(chance * 100).toFixed(1)} %`
      return `From ${runId} (${runs[at]!.startedAt}): ${value(before)} before, ${value(after)} from then on${change}. Chance of so clear a step: ${chanceText}.`
    }),
    'A machine whose speed drifts gives such changes too. To rule that out, run one old build beside each new one.',
    '',
  ].join('\n')}`
}
