import type { ScenarioInput } from './schema.ts'

export type { PromptContext, PromptFunction, ScenarioInput } from './schema.ts'

/**
 * A scenario in TypeScript: the shape of a scenario file, whose prompts may also be functions.
 * It is checked when it is run, as a file is.
 */
export function defineScenario(scenario: ScenarioInput): ScenarioInput {
  return scenario
}
