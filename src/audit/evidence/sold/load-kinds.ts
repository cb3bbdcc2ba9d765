import { z } from 'zod'
import { jsonOf } from '../../../user/json.ts'
import type { Evidence } from '../../rule.ts'

/** How many requests a phase has in flight: one user has one at most. Unknown of a run whose scenario is not stored. */
export type LoadKind = 'one user' | 'many' | 'unknown'

const shape = z.looseObject({
  phases: z.array(
    z.looseObject({
      name: z.string(),
      load: z.looseObject({ kind: z.string(), toUsers: z.number().nullish() }),
    }),
  ),
})

/** The load of each phase of these runs, by their stored scenarios. A trial of a search is a phase, too: `search 7`. */
export async function loadKinds(
  store: Evidence['store'],
  runIds: readonly string[],
): Promise<(runId: string, phase: string) => LoadKind> {
  const rows = await store.rows<{ runId: string; scenario: string }>(
    `SELECT run_id AS "runId", scenario_json AS scenario FROM runs WHERE list_contains($1::VARCHAR[], run_id)`,
    [JSON.stringify(runIds)],
  )
  const known = new Map<string, LoadKind>()
  const place = (runId: string, phase: string) => JSON.stringify([runId, phase])
  const searches: string[] = []
  for (const { runId, scenario } of rows) {
    const read = shape.safeParse(jsonOf(scenario))
    for (const { name, load } of read.success ? read.data.phases : []) {
      const isOne = load.kind === 'concurrency' && load.toUsers === 1
      known.set(place(runId, name), isOne ? 'one user' : 'many')
      if (load.kind === 'sweep') searches.push(place(runId, name))
    }
  }
  const trialOf = (runId: string, phase: string) => place(runId, phase.replace(/ \d+$/, ''))
  return (runId, phase) =>
    known.get(place(runId, phase)) ??
    (searches.includes(trialOf(runId, phase)) ? 'many' : 'unknown')
}
