import type { ScenarioInput } from './file/scenario-file.ts'

export type { AnswerCheck, AnswerToCheck } from './file/expect.ts'
export type { PromptContext, PromptFunction } from './file/prompt.ts'
export type { ScenarioInput } from './file/scenario-file.ts'

/**
 * A scenario in TypeScript: the fields of a scenario file, with prompts that may also be functions.
 * It is checked when it is run, like a file.
 *
 * @example
 * const scenario = defineScenario({
 *   ...{ name: 'numbers', question: 'Are the numbers right?', model: 'svc-k2' },
 *   steps: { chat: { endpoint: 'chat', prompt: 'What is 6 * 7?' } },
 *   phases: [{ name: 'steady', load: 'constant', rate: '5/s', duration: '10s' }],
 * })
 * console.log(scenario.name)
 */
export function defineScenario(scenario: ScenarioInput): ScenarioInput {
  return scenario
}
