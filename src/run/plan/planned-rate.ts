import type { Scenario } from '../../scenario/scenario.ts'
import { amountBy } from '../../schedule/rate-curve.ts'
import { countWhile } from '../../user/count-below.ts'
import { smallest } from '../../user/extremes.ts'
import type { PhaseRun, SenderLoad } from '../crew/messages.ts'
import { waitsForAnswers } from './phase-steps.ts'

/**
 * Requests of each step that are planned between two times of the run, on average over the draws. Only the
 * plan counts, not what was sent: a thread that falls behind must not lower the planned rate.
 *
 * @returns requests of each step of the scenario, without those that follow an answer; null for a step of a closed load,
 * which has no plan
 */
export function plannedBetween(
  scenario: Scenario,
  phases: readonly PhaseRun[],
  fromUs: number,
  toUs: number,
): readonly (number | null)[] {
  const planned = scenario.steps.map((): number | null => 0)
  for (const phase of phases) {
    if (phase.startUs >= toUs || endOf(phase) <= fromUs) continue
    const requests = dueBetween(phase, fromUs, toUs)
    // A closed phase without a duration has ended when the next one begins.
    if (requests === null && nextOf(phase, phases) <= fromUs) continue
    const weights = phase.steps.map((index) => scenario.steps[index]!.weight)
    const sum = weights.reduce((total, weight) => total + weight, 0)
    for (const [at, index] of phase.steps.entries()) {
      const share = sum === 0 ? 1 / weights.length : weights[at]! / sum
      const before = planned[index]!
      planned[index] = before === null || requests === null ? null : before + requests * share
    }
  }
  return planned
}

type OpenLoad = Exclude<SenderLoad, { kind: 'concurrency' }>

const nextOf = ({ startUs }: PhaseRun, phases: readonly PhaseRun[]) =>
  smallest(phases.map((phase) => phase.startUs).filter((us) => us > startUs))

const endOf = (phase: PhaseRun) =>
  phase.durationUs === null ? Infinity : phase.startUs + phase.durationUs

/** Requests of a phase that the plan alone makes due; null for a closed load. */
function dueBetween(phase: PhaseRun, fromUs: number, toUs: number): number | null {
  const { load } = phase
  if (load.kind === 'concurrency') return null
  if (load.kind === 'replay' && load.users !== undefined) return null
  // Tasks and sessions start by the plan, and answers decide when their requests are due.
  if (waitsForAnswers(phase)) return 0
  return dueBy(phase, load, toUs) - dueBy(phase, load, fromUs)
}

function dueBy(phase: PhaseRun, load: OpenLoad, atUs: number): number {
  const { maxRequests } = phase
  const us = Math.max(0, Math.min(atUs, endOf(phase)) - phase.startUs)
  switch (load.kind) {
    case 'arrivals':
      return Math.min(amountBy(load.rate, us), maxRequests ?? Infinity)
    case 'replay':
      return Math.min(
        countWhile(load.requests.length, (at) => load.requests[at]!.atUs < us * load.speed),
        maxRequests ?? Infinity,
      )
  }
}
