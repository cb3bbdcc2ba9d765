import { batchRows } from '../../attempt/batch.ts'
import type { Phase } from '../../scenario/loads.ts'
import type { Scenario } from '../../scenario/scenario.ts'
import { amountBy } from '../../schedule/rate-curve.ts'
import { mostRequests } from '../../schedule/tasks.ts'
import { largest } from '../../user/extremes.ts'
import type { Loads } from '../crew/coordinator.ts'
import { stepsOf } from '../plan/phase-steps.ts'

/**
 * Whether a run plans at most one batch of requests. The main thread writes them in milliseconds; to start a thread for
 * them, and to open its store again, takes longer.
 */
export function isShort(scenario: Scenario, loads: Pick<Loads, 'load'>): boolean {
  const planned = scenario.phases.map((phase) => plannedOf(scenario, loads, phase))
  return planned.reduce((sum, each) => sum + each, 0) <= batchRows
}

/** About as many requests as a phase sends, without retries; infinite if that is open. */
function plannedOf(scenario: Scenario, loads: Pick<Loads, 'load'>, phase: Phase): number {
  const tasks = scenario.tasks.filter(({ name }) => phase.tasks?.includes(name))
  const turns = stepsOf(scenario, phase.steps).map((at) => scenario.steps[at]!.session?.turns ?? 1)
  return startsOf(loads, phase) * largest([...tasks.map(mostRequests), ...turns], 1)
}

function startsOf(loads: Pick<Loads, 'load'>, phase: Phase): number {
  const most = phase.maxRequests ?? Infinity
  const { load } = phase
  switch (load.kind) {
    case 'arrivals':
      return Math.min(
        most,
        phase.durationUs === null ? Infinity : amountBy(load.rate, phase.durationUs),
      )
    case 'replay': {
      const trace = loads.load(phase)
      return trace.kind === 'replay' ? Math.min(most, trace.requests.length) : Infinity
    }
    case 'concurrency':
    case 'saturate':
      return most
    case 'sweep':
      return Infinity
  }
}
