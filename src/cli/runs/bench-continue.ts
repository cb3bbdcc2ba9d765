import type { Scenario } from '../../scenario/scenario.ts'
import type { Trial } from '../../schedule/safe-rate/trial.ts'
import { inStore } from '../../store/session/in-store.ts'
import { userError } from '../../user/user-error.ts'

/** A search that an earlier run began. */
export interface BegunSearch {
  readonly runId: string
  readonly scenario: Scenario
  readonly seed: number
  readonly baseUrl: string
  readonly trials: readonly Trial[]
}

interface SearchRow {
  readonly runId: string
  readonly scenario: string
  readonly seed: number
  readonly baseUrl: string
  readonly verdict: string
}

/**
 * The latest search of `assay bench` in a store.
 *
 * @param baseUrl of which service; null for any
 * @throws UserError without one
 */
export async function begunSearch(path: string, baseUrl: string | null): Promise<BegunSearch> {
  const rows = await inStore(path, (store) =>
    store.rows<SearchRow>(
      `SELECT run_id AS "runId", scenario_json AS scenario, seed::DOUBLE AS seed, base_url AS "baseUrl",
         verdict_json AS verdict
       FROM runs WHERE scenario = 'bench' AND kind = 'run' AND verdict_json IS NOT NULL
       ORDER BY started_at DESC`,
    ),
  )
  for (const { scenario, verdict, ...row } of rows) {
    if (baseUrl !== null && row.baseUrl !== baseUrl) continue
    const { sweeps = [] } = JSON.parse(verdict) as {
      sweeps?: readonly { trials: readonly Trial[] }[]
    }
    const { runId } = row
    // An earlier version has no time of a reset.
    const trials = (sweeps[0]?.trials ?? []).map((trial) => {
      return { runId, ...trial, resetUs: trial.resetUs ?? null }
    })
    if (trials.length > 0) return { ...row, scenario: storedScenario(scenario), trials }
  }
  throw userError.usage(
    `--continue: expected a search of assay bench${baseUrl === null ? '' : ` of ${baseUrl}`} in ${path}; there is none. Leave out --continue to begin one.`,
  )
}

/** A stored scenario. One of an earlier version has no script of its prompts: they are words. */
function storedScenario(json: string): Scenario {
  const scenario = JSON.parse(json) as Scenario
  return {
    ...scenario,
    steps: scenario.steps.map((step) =>
      step.prompt?.kind === 'synthetic'
        ? { ...step, prompt: { ...step.prompt, script: step.prompt.script ?? 'words' } }
        : step,
    ),
  }
}

export function withSearch(
  scenario: Scenario,
  change: { readonly budget: Trial['budget'] | null; readonly mostUs: number | null },
): Scenario {
  return {
    ...scenario,
    phases: scenario.phases.map((phase) =>
      phase.load.kind === 'sweep'
        ? { ...phase, load: { ...phase.load, search: { ...phase.load.search, ...change } } }
        : phase,
    ),
  }
}
