import type { Contract } from '../contract/contract.ts'
import type { Scenario } from '../scenario/scenario.ts'
import { ActivePhase, arrivalsOf } from './active-phase.ts'
import { traceOf } from './loads.ts'
import type { PhaseRun } from './messages.ts'
import { promptPools } from './prompts.ts'
import { machineOf, type Shard, scenarioOf, unsharded } from './shard.ts'
import { creditsOf } from './step-plan.ts'

/** What a phase of a scenario would send, without sending it. */
export interface PhasePlan {
  readonly phase: string
  readonly part: string
  readonly load: string
  readonly durationUs: number | null
  /** First requests; null where answers or a search decide how many there are. */
  readonly requests: number | null
  readonly bySteps: Readonly<Record<string, number>>
  /** What it costs if all that can succeed does; null where the number of requests is open. */
  readonly mostCredits: number | null
}

/**
 * Walks the plans of the open phases as senders would.
 *
 * @param shard of which machine; of all where it is not given
 * @throws UserError for a file of prompts or a trace that cannot be read
 */
export function planOf(
  scenario: Scenario,
  contract: Contract,
  seed: number,
  shard: Shard = unsharded,
): readonly PhasePlan[] {
  scenarioOf(scenario, shard)
  promptPools(scenario, seed)
  return scenario.phases.map((phase, ordinal): PhasePlan => {
    const { load } = phase
    const base = {
      phase: phase.name,
      part: phase.part,
      load: load.kind === 'arrivals' ? load.spacing.kind : load.kind,
      durationUs: phase.durationUs,
    }
    if (load.kind !== 'arrivals' && load.kind !== 'replay') {
      return { ...base, requests: null, bySteps: {}, mostCredits: null }
    }
    const run: PhaseRun = {
      ...phase,
      ordinal,
      load: load.kind === 'replay' ? traceOf(load) : load,
      startUs: 0,
      slotBase: 0,
      steps: stepsOf(scenario, phase.steps),
    }
    const active = new ActivePhase(run, scenario, seed)
    const arrivals = arrivalsOf(run, seed)!
    const bySteps: Record<string, number> = {}
    let mostCredits = 0
    let requests = 0
    while (arrivals.advance()) {
      if (machineOf(arrivals.index, scenario.threads, shard) !== shard.index) continue
      requests++
      const step = scenario.steps[active.stepAt(arrivals.index)]!
      bySteps[step.name] = (bySteps[step.name] ?? 0) + 1
      const traced = run.load.kind === 'replay' ? run.load.requests[arrivals.index]!.model : null
      mostCredits += creditsOf(step, contract, traced ?? step.model) * (step.session?.turns ?? 1)
    }
    return { ...base, requests, bySteps, mostCredits }
  })
}

/**
 * Indexes of the steps that a phase draws from: those that it names, or all that have weight.
 * A step of weight 0 is drawn only where it is named.
 */
export function stepsOf(scenario: Scenario, names: readonly string[]): readonly number[] {
  return scenario.steps.flatMap((step, index) =>
    (names.length === 0 ? step.weight > 0 : names.includes(step.name)) ? [index] : [],
  )
}
