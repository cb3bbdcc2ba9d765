import type { Contract } from '../contract/contract.ts'
import { type Scenario, type TargetName, targetNames } from '../scenario/scenario.ts'
import type { Store } from '../store/session/open.ts'
import { userError } from '../user/user-error.ts'
import { placeOf, type RunResult, type RunSettings, run } from './run.ts'

export interface PairOptions
  extends Pick<
    RunSettings,
    'seed' | 'timeScale' | 'signal' | 'stopNow' | 'onProgress' | 'progressEveryMs'
  > {
  readonly scenario: Scenario
  /** Name that both runs share: they are `name-a` and `name-b`. */
  readonly pair: string
  /** What each service promises. */
  readonly contracts: Readonly<Record<TargetName, Contract>>
  readonly environment?: NodeJS.ProcessEnv
}

/** Time for the threads of both runs to get ready. */
const readyMs = 4_000

/**
 * Sends each request of a scenario to both of its targets, at nearly the same time and in random order: two runs with one
 * plan and one clock. `compareRuns` compares them by pairs.
 *
 * @param stores of each run, open or by path. They are written at the same time, so they are two.
 * @throws UserError for a scenario without targets, or a key of a target that is not set
 */
export async function runPair(
  stores: Readonly<Record<TargetName, Store | string>>,
  options: PairOptions,
): Promise<Readonly<Record<TargetName, RunResult>>> {
  const { scenario, pair, contracts, environment = process.env, ...shared } = options
  const { targets } = scenario
  if (targets === undefined) {
    throw userError.run('expected a scenario with targets: { a, b }; got one without.')
  }
  // Every key is read before the first request is sent.
  const keys = { a: keysOf(scenario, 'a', environment), b: keysOf(scenario, 'b', environment) }
  const startAtUs = (Date.now() + readyMs) * 1000
  const runOf = (name: TargetName) => {
    const { targets: _, ...plain } = scenario
    return run(
      { ...plain, baseUrl: targets[name].baseUrl, target: { name, pair } },
      {
        ...shared,
        baseUrl: targets[name].baseUrl,
        ...placeOf(stores[name]),
        contract: contracts[name],
        keys: keys[name],
        runId: `${pair}-${name}`,
        startAtUs,
      },
    )
  }
  const ends = await Promise.allSettled(targetNames.map(runOf))
  const [a, b] = ends.map((end) => {
    if (end.status === 'rejected') throw end.reason
    return end.value
  })
  return { a: a!, b: b! }
}

/** The key of a target for each key of the scenario; none to use those of the scenario. */
function keysOf(
  { keys, targets }: Scenario,
  name: TargetName,
  environment: NodeJS.ProcessEnv,
): Readonly<Record<string, string>> {
  const variable = targets![name].keyEnv
  if (variable === null) return {}
  const key = environment[variable]
  if (key === undefined) {
    throw userError.run(
      `The key of target ${name} comes from the variable ${variable}, which is not set. Set it to an API key of that service.`,
    )
  }
  return Object.fromEntries(keys.map((each) => [each.name, key]))
}
