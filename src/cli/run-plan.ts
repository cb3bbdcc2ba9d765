import type { PhasePlan } from '../run/plan.ts'
import type { Shard } from '../run/shard.ts'
import { traceText } from '../run/trace-plan.ts'
import type { Scenario } from '../scenario/scenario.ts'
import { wrapped } from '../user/wrapped.ts'
import { duration, table } from './text.ts'

/** The plan of a scenario as text. */
export function planText(
  scenario: Scenario,
  plan: readonly PhasePlan[],
  shard: Shard,
  threads: number,
): string {
  const head = ['phase', 'part', 'load', 'lasts', 'requests', 'at most credits']
  const rows = plan.map((phase) => [
    phase.phase,
    phase.part,
    phase.load,
    phase.durationUs === null ? '-' : duration(phase.durationUs),
    phase.requests === null ? 'open' : String(phase.requests),
    phase.mostCredits === null ? 'open' : String(phase.mostCredits),
  ])
  const steps = plan.flatMap(({ phase, bySteps }) => {
    const counts = Object.entries(bySteps).map(([step, count]) => `${step} ${count}`)
    return counts.length === 0 ? [] : wrapped(`${phase}: ${counts.join(', ')}`, '  ')
  })
  const traces = plan.flatMap(({ phase, trace }) => {
    const load = scenario.phases.find(({ name }) => name === phase)?.load
    const lines = trace === null || load?.kind !== 'replay' ? [] : traceText(trace, load.speed)
    return lines.flatMap((line) => wrapped(`${phase}: ${line}`, '  '))
  })
  return [
    `${scenario.name}: ${scenario.question}`,
    ...table([head, ...rows], 'words'),
    ...steps,
    ...traces,
    ...(shard.of === 1 ? [] : [`The part of shard ${shard.index} of ${shard.of}.`]),
    `Sends on ${threads === 1 ? '1 thread' : `${threads} threads`}.`,
    'Nothing was sent.',
    '',
  ].join('\n')
}
