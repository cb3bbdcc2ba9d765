import type { Scenario } from '../scenario/scenario.ts'
import type { RunSettings } from './run.ts'

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
