import type { Scenario } from './scenario.ts'

/** The files that a scenario names, each once: keys, prompts, traces, certificates, its module. */
export function scenarioFiles(scenario: Scenario): readonly string[] {
  const files = [
    scenario.modulePath,
    scenario.caFile,
    scenario.certFile,
    scenario.keyFile,
    ...scenario.keys.map(({ source }) => ('file' in source ? source.file : null)),
    ...scenario.steps.map(({ prompt }) => (prompt.kind === 'file' ? prompt.path : null)),
    ...scenario.phases.map(({ load }) => (load.kind === 'replay' ? load.path : null)),
  ]
  return [...new Set(files.filter((file) => file !== null))]
}
