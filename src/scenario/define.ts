import type { ScenarioInput } from './schema.ts'

export type { PromptContext, PromptFunction, ScenarioInput } from './schema.ts'

/**
 * A scenario in TypeScript: the fields of a scenario file, with prompts that may also be functions.
 * It is checked when it is run, like a file.
 */
export function defineScenario(scenario: ScenarioInput): ScenarioInput {
  return scenario
}
