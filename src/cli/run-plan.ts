import { formatDuration } from '../report/format.ts'
import type { PhasePlan } from '../run/plan.ts'
import { repeatedTexts } from '../run/repeated-tokens.ts'
import type { Shard } from '../run/shard.ts'
import { traceText } from '../run/trace-plan.ts'
import type { Scenario } from '../scenario/scenario.ts'
import { undecidable } from '../scenario/undecidable.ts'
import { wrapped } from '../user/wrapped.ts'
import type { PlanMoney } from './plan-money.ts'
import { duration, table } from './text.ts'

/**
 * The plan of a scenario as text.
 *
 * @param money null if the contract's prices are in credits
 */
export function planText(
  scenario: Scenario,
  plan: readonly PhasePlan[],
  shard: Shard,
  threads: number,
  money: PlanMoney | null,
): string {
  const cost = money === null ? 'at most credits' : 'about'
  const head = ['phase', 'part', 'load', 'lasts', 'requests', cost]
  const rows = plan.map((phase, at) => [
    phase.phase,
    phase.part,
    phase.load,
    lastsText(phase, scenario),
    phase.requests === null ? 'open' : String(phase.requests),
    (money === null ? phase.mostCredits : money.phases[at])?.toString() ?? 'open',
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
    ...wrapped(money?.says ?? costText(scenario, plan), ''),
    ...repeatedTexts(scenario, scenario.seed, (step) => requestsOf(plan, step)).flatMap((text) =>
      wrapped(text, ''),
    ),
    ...undecidable(scenario).flatMap((text) => wrapped(text, '')),
    'Nothing was sent.',
    '',
  ].join('\n')
}

/** A search lasts as long as it must, or at most as long as it may. */
function lastsText({ phase, durationUs }: PhasePlan, { phases }: Scenario): string {
  const load = phases.find(({ name }) => name === phase)?.load
  if (load?.kind === 'sweep' && load.search.mostUs !== null)
    return `at most ${formatDuration(load.search.mostUs / 1e6)}`
  return durationUs === null ? '-' : duration(durationUs)
}

/** What the whole plan costs at most. */
function costText({ policy }: Scenario, plan: readonly PhasePlan[]): string {
  const known = plan.reduce((sum, { mostCredits }) => sum + (mostCredits ?? 0), 0)
  const open = plan.filter(({ mostCredits }) => mostCredits === null).map(({ phase }) => phase)
  const { maxCredits } = policy
  const credits = (count: number) => `${count.toLocaleString('en-US')} credits`
  if (open.length === 0) {
    const most = Math.min(known, maxCredits ?? Infinity)
    return `At most ${credits(most)} in all${most < known ? ', by max_credits' : ''}.`
  }
  return maxCredits === null
    ? `No bound on the credits: answers decide how many requests ${open.join(', ')} ${open.length === 1 ? 'sends' : 'send'}. Set max_credits.`
    : `At most ${credits(maxCredits)} in all, by max_credits.`
}

/** Planned requests of a step; null if a phase leaves them open. */
function requestsOf(plan: readonly PhasePlan[], step: string): number | null {
  const isOpen = plan.some(
    ({ requests, bySteps }) =>
      requests === null || (requests > 0 && Object.keys(bySteps).length === 0),
  )
  return isOpen ? null : plan.reduce((sum, { bySteps }) => sum + (bySteps[step] ?? 0), 0)
}
