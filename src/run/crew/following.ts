import type { Scenario } from '../../scenario/scenario.ts'
import { crowdOf } from '../plan/crowd.ts'
import { arrivalsOf } from '../plan/phase-arrivals.ts'
import { strideOf } from '../send/active-phase.ts'
import type { PhaseRun } from './messages.ts'

/** Time for threads to receive a phase before its first request is due. */
export const leadUs = 50_000

/**
 * Indexes reserved for a closed phase: one for each microsecond, or `maxRequests`; of a replay, one for each session. The
 * number of its requests is not known in advance, and the next phase must have the same slots on every machine.
 */
export const mostOfClosed = ({
  load,
  maxRequests,
  durationUs,
}: Pick<PhaseRun, 'load' | 'maxRequests' | 'durationUs'>) => {
  const inTime = load.kind === 'replay' ? load.sessions!.length : Math.ceil(durationUs ?? Infinity)
  return Math.min(maxRequests ?? Infinity, inTime)
}

/** The first slot of the next phase. */
export function slotAfter(run: PhaseRun, scenario: Scenario, seed: number): number {
  // A request of a session has the slot of its place in the trace.
  if (run.load.kind === 'replay' && run.load.sessions !== undefined) {
    return run.slotBase + run.load.requests.length
  }
  const arrivals = arrivalsOf(run, seed)
  arrivals?.finish()
  const indexes = arrivals === null ? mostOfClosed(run) : arrivals.index + 1
  return run.slotBase + indexes * strideOf(run, scenario)
}

/** When the next phase begins; null if a count of requests ends this closed phase. */
export function startAfter(run: PhaseRun, seed: number): number | null {
  const arrivals = crowdOf(run.load) === null ? arrivalsOf(run, seed) : null
  if (run.durationUs !== null && (arrivals !== null || run.maxRequests === null)) {
    return run.startUs + run.durationUs
  }
  if (arrivals === null) return null
  arrivals.finish()
  return run.startUs + (arrivals.index < 0 ? 0 : arrivals.atUs) + leadUs
}
