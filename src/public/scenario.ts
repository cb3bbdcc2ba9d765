/** `assay/scenario`: scenarios from files, text and objects. */
export { defineScenario, type ScenarioInput } from '../scenario/define.ts'
export { ScenarioError } from '../scenario/issues.ts'
export { loadScenario, parseScenario, scenarioFrom } from '../scenario/parse.ts'
export type { Scenario } from '../scenario/scenario.ts'
