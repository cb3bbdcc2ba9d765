import type { Scenario } from '../scenario/scenario.ts'
import { arrivalsOf, strideOf } from './active-phase.ts'
import type { PhaseRun } from './messages.ts'

/** Time for threads to take in a phase before its first request is due. */
export const leadUs = 50_000

/**
 * Indexes that a closed phase may use. Nobody knows beforehand how many its users will send, and what
 * follows must have the same slots on every machine: so at most one request each microsecond.
 */
export const mostOfClosed = ({
  maxRequests,
  durationUs,
}: Pick<PhaseRun, 'maxRequests' | 'durationUs'>) =>
  Math.min(maxRequests ?? Infinity, Math.ceil(durationUs ?? Infinity))

/** First slot that a phase leaves to the one after it. */
export function slotAfter(run: PhaseRun, scenario: Scenario, seed: number): number {
  const arrivals = arrivalsOf(run, seed)
  arrivals?.finish()
  const indexes = arrivals === null ? mostOfClosed(run) : arrivals.index + 1
  return run.slotBase + indexes * strideOf(run, scenario)
}

/** When the phase after this one begins; null where only its users tell when it is over. */
export function startAfter(run: PhaseRun, seed: number): number | null {
  const arrivals = arrivalsOf(run, seed)
  if (run.durationUs !== null && (arrivals !== null || run.maxRequests === null)) {
    return run.startUs + run.durationUs
  }
  if (arrivals === null) return null
  arrivals.finish()
  return run.startUs + (arrivals.index < 0 ? 0 : arrivals.atUs) + leadUs
}
