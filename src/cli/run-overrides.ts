import { durationUsOf, ratePerSOf } from '../scenario/quantity.ts'
import type { Load, Phase, Scenario } from '../scenario/scenario.ts'
import { UsageError } from './exit.ts'

/** Options of the command line that change a scenario. */
export interface RunOverrides {
  readonly rate?: string
  readonly duration?: string
  readonly maxCredits?: string
}

/** @throws UsageError for a value that is no rate, duration or number */
export function overridden(scenario: Scenario, options: RunOverrides): Scenario {
  const rate = quantity('--rate', options.rate, ratePerSOf, 'a rate such as 50/s')
  const durationUs = quantity(
    '--duration',
    options.duration,
    durationUsOf,
    'a duration such as 30s',
  )
  const credits = quantity(
    '--max-credits',
    options.maxCredits,
    (text) => (/^\d+$/.test(text) && Number(text) > 0 ? Number(text) : null),
    'a whole number from 1',
  )
  const open = scenario.phases.some((phase) => phase.load.kind === 'arrivals')
  if (rate !== null && !open) {
    throw new UsageError(
      '--rate: no phase of this scenario has a rate of its own; users, traces and searches set theirs in the scenario.',
    )
  }
  return {
    ...scenario,
    phases: scenario.phases.map((phase) => overriddenPhase(phase, rate, durationUs)),
    policy: credits === null ? scenario.policy : { ...scenario.policy, maxCredits: credits },
  }
}

function overriddenPhase(phase: Phase, rate: number | null, durationUs: number | null): Phase {
  const length = phase.durationUs === null ? null : (durationUs ?? phase.durationUs)
  const stretch =
    length === null || phase.durationUs === null || phase.durationUs === 0
      ? 1
      : length / phase.durationUs
  return { ...phase, durationUs: length, load: overriddenLoad(phase.load, rate, stretch) }
}

/** Courses keep their shape: stretched in time, or flat at the rate that was asked for. */
function overriddenLoad(load: Load, rate: number | null, stretch: number): Load {
  if (load.kind !== 'arrivals') return load
  return {
    ...load,
    rate: load.rate.map((segment) => ({
      durationUs: segment.durationUs * stretch,
      fromPerS: rate ?? segment.fromPerS,
      toPerS: rate ?? segment.toPerS,
    })),
  }
}

function quantity(
  name: string,
  text: string | undefined,
  read: (text: string) => number | null,
  expected: string,
): number | null {
  if (text === undefined) return null
  const value = read(text)
  if (value === null) throw new UsageError(`${name}: expected ${expected}; came ${text}.`)
  return value
}
