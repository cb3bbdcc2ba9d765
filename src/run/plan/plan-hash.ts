import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Contract } from '../../contract/contract.ts'
import type { Scenario } from '../../scenario/scenario.ts'
import { assayVersion } from '../../store/runs/machine.ts'
import { replayOf } from './loads.ts'
import type { PromptPool } from './prompts.ts'

/**
 * A hash of the plan, which must be the same on all machines of a run. Paths of files and sources of keys
 * may differ; the content of the files may not.
 */
export function planHash({
  scenario,
  prompts,
  ...rest
}: {
  readonly scenario: Scenario
  readonly prompts: readonly PromptPool[]
  readonly seed: number
  readonly contract: Contract
  readonly shards: number
}): string {
  const { modulePath, keys, steps, phases } = scenario
  const plan = {
    ...scenario,
    // The seed of the run may differ from the scenario's.
    ...rest,
    version: assayVersion(),
    modulePath: modulePath === null ? null : readFileSync(modulePath, 'utf8'),
    caFile: null,
    certFile: null,
    keyFile: null,
    proxyEnv: null,
    metrics: null,
    keys: keys.map(({ name, account, weight }) => ({ name, account, weight })),
    steps: steps.map((step, at) => ({ ...step, prompt: prompts[at] ?? step.prompt })),
    phases: phases.map((phase) => ({
      ...phase,
      load: phase.load.kind === 'replay' ? replayOf(phase.load) : phase.load,
    })),
  }
  return createHash('sha256').update(JSON.stringify(plan, exactNumbers)).digest('hex').slice(0, 32)
}

/** Prices are exact fractions of bigints, which JSON has not. */
const exactNumbers = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? `${value}` : value
