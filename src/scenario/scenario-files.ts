import type { Scenario } from './scenario.ts'
import type { Expectation, JsonSchema } from './steps.ts'

/** The files that a scenario names, each once: keys, prompts, traces, certificates, its module. */
export function scenarioFiles(scenario: Scenario): readonly string[] {
  const files = [
    scenario.modulePath,
    scenario.caFile,
    scenario.certFile,
    scenario.keyFile,
    ...scenario.keys.map(({ source }) => ('file' in source ? source.file : null)),
    ...scenario.steps.map(({ prompt }) => (prompt.kind === 'file' ? prompt.path : null)),
    ...scenario.steps.flatMap(({ expect }) => expect.map(fileOf)),
    ...scenario.phases.map(({ load }) => (load.kind === 'replay' ? load.path : null)),
  ]
  return [...new Set(files.filter((file) => file !== null))]
}

function fileOf(expectation: Expectation): string | null {
  const { kind } = expectation
  if (kind === 'check') return expectation.path
  return kind === 'json' || kind === 'tool' ? schemaFile(expectation) : null
}

const schemaFile = (expectation: Extract<Expectation, { kind: 'json' | 'tool' }>) => {
  const schema: JsonSchema | null =
    expectation.kind === 'json' ? expectation.json : expectation.arguments
  return schema !== null && 'path' in schema ? schema.path : null
}
