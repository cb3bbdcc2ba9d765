import { durationUsOf, mostPerS, ratePerSOf } from '../scenario/quantity.ts'
import type { Load, Phase, RateSegment, Scenario } from '../scenario/scenario.ts'
import { amountBy } from '../schedule/course.ts'
import { UserError } from '../user/user-error.ts'
import { quantityOf } from './numbers.ts'

/** Options of the command line that change a scenario. */
export interface RunOverrides {
  readonly rate?: string
  readonly duration?: string
  readonly maxCredits?: string
}

/** @throws UserError for a value that is no rate, duration or number */
export function overridden(scenario: Scenario, options: RunOverrides): Scenario {
  const { rate, duration, maxCredits } = options
  const perS =
    rate === undefined
      ? null
      : quantityOf('--rate', rate, ratePerSOf, 'a rate above 0, such as 50/s')
  if (perS !== null && perS > mostPerS) {
    throw new UserError('usage', `--rate: expected at most ${mostPerS}/s; got ${rate}.`)
  }
  const durationUs =
    duration === undefined
      ? null
      : quantityOf('--duration', duration, durationUsOf, 'a duration above 0, such as 30s')
  const credits =
    maxCredits === undefined
      ? null
      : quantityOf('--max-credits', maxCredits, creditsOf, 'a whole number from 1')
  const open = scenario.phases.some((phase) => phase.load.kind === 'arrivals')
  if (perS !== null && !open) {
    throw new UserError(
      'usage',
      '--rate: no phase of this scenario has a rate of its own; users, traces and searches set theirs in the scenario.',
    )
  }
  return {
    ...scenario,
    phases: scenario.phases.map((phase) => overriddenPhase(phase, perS, durationUs)),
    policy: credits === null ? scenario.policy : { ...scenario.policy, maxCredits: credits },
  }
}

const creditsOf = (text: string) => (/^\d+$/.test(text) ? Number(text) : null)

function overriddenPhase(phase: Phase, rate: number | null, durationUs: number | null): Phase {
  const length = phase.durationUs === null ? null : (durationUs ?? phase.durationUs)
  const stretch =
    length === null || phase.durationUs === null || phase.durationUs === 0
      ? 1
      : length / phase.durationUs
  return { ...phase, durationUs: length, load: overriddenLoad(phase, rate, stretch) }
}

/** Courses keep their shape: stretched in time, and scaled so that their mean is the rate asked for. */
function overriddenLoad(phase: Phase, rate: number | null, stretch: number): Load {
  const { load } = phase
  if (load.kind !== 'arrivals') return load
  const mean = meanPerS(load.rate, phase.durationUs)
  return {
    ...load,
    rate: load.rate.map((segment) => ({
      durationUs: segment.durationUs * stretch,
      fromPerS: rate === null ? segment.fromPerS : scaled(segment.fromPerS, mean, rate),
      toPerS: rate === null ? segment.toPerS : scaled(segment.toPerS, mean, rate),
    })),
  }
}

/** A course that rests from end to end has no shape to keep. */
const scaled = (perS: number, mean: number, rate: number) =>
  mean === 0 ? rate : (perS / mean) * rate

/** Over the time that the phase lasts; without an end, of the one rate that it has. */
function meanPerS(course: readonly RateSegment[], durationUs: number | null): number {
  return durationUs === null || durationUs === 0
    ? course[0]!.fromPerS
    : amountBy(course, durationUs) / (durationUs / 1e6)
}
