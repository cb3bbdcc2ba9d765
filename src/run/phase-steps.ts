import type { Scenario } from '../scenario/scenario.ts'
import type { PhaseRun } from './messages.ts'

/** Indexes of the tasks that a phase draws from; absent for a phase of requests. */
export function tasksOf(
  scenario: Scenario,
  names: readonly string[] = [],
): Pick<PhaseRun, 'taskIndexes'> {
  if (names.length === 0) return {}
  return {
    taskIndexes: names.map((name) => scenario.tasks.findIndex((task) => task.name === name)),
  }
}

/**
 * Indexes of the steps that a phase draws from: those that it names, or all with a weight above 0.
 */
export function stepsOf(scenario: Scenario, names: readonly string[]): readonly number[] {
  return scenario.steps.flatMap((step, index) =>
    (names.length === 0 ? step.weight > 0 : names.includes(step.name)) ? [index] : [],
  )
}
