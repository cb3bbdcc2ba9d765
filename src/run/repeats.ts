import type { Scenario } from '../scenario/scenario.ts'
import type { Store } from '../store/session/open.ts'
import { placeOf, type RunResult, type RunSettings, run } from './run.ts'

/** One of several runs of a scenario: the scenario that knows of it, its id and its seed. */
export interface Repeat {
  readonly scenario: Scenario
  readonly settings: Required<Pick<RunSettings, 'runId' | 'seed'>>
}

/**
 * The runs that repeat a scenario, each with a fresh start, and with requests and arrivals of its own: the same
 * prompts again would meet a warm cache.
 *
 * @param name what they share: run n is `name-n`
 * @param count of runs, from 1
 * @param seed of the first; each next one has the next seed
 */
export const repeatsOf = (
  scenario: Scenario,
  { name, count, seed }: { readonly name: string; readonly count: number; readonly seed: number },
): readonly Repeat[] =>
  Array.from({ length: count }, (_, at) => ({
    scenario: { ...scenario, repeat: { name, number: at + 1, of: count } },
    settings: { runId: `${name}-${at + 1}`, seed: seed + at },
  }))

/** What all runs of a scenario have, and what they are called. */
export interface RepeatOptions extends Omit<RunSettings, 'runId' | 'shard' | 'team'> {
  readonly scenario: Scenario
  /** What they share: run n is `name-n`. */
  readonly name: string
  /** At least 3, so that a comparison can tell how far runs differ by themselves. */
  readonly count: number
  /** Restarts the service, say, before each run. @param number of the run, from 1 */
  readonly beforeEach?: (number: number) => void | Promise<void>
}

/**
 * Runs a scenario several times, one after the other. It ends early if the service refuses a first request or is never
 * reached, if the store fails, or if the signal aborts.
 *
 * @returns the results of the runs that were made
 */
export async function runRepeats(
  store: Store | string,
  options: RepeatOptions,
): Promise<readonly RunResult[]> {
  const { scenario, name, count, beforeEach, ...shared } = options
  const seed = options.seed ?? scenario.seed
  const results: RunResult[] = []
  for (const [at, repeat] of repeatsOf(scenario, { name, count, seed }).entries()) {
    await beforeEach?.(at + 1)
    const result = await run(repeat.scenario, {
      ...shared,
      ...repeat.settings,
      ...placeOf(store),
    })
    results.push(result)
    if (endsRepeats(result)) break
  }
  return results
}

/** Whether further runs would end the same way. */
export const endsRepeats = ({ stopped, refusal }: RunResult): boolean =>
  refusal !== null || stopped === 'interrupted' || stopped === 'unreachable' || stopped === 'store'
