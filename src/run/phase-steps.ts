import type { Scenario } from '../scenario/scenario.ts'

/**
 * Indexes of the steps that a phase draws from: those that it names, or all with a weight above 0.
 */
export function stepsOf(scenario: Scenario, names: readonly string[]): readonly number[] {
  return scenario.steps.flatMap((step, index) =>
    (names.length === 0 ? step.weight > 0 : names.includes(step.name)) ? [index] : [],
  )
}
