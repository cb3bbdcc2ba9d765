import type { Store } from '../store/open.ts'
import { UsageError } from './errors.ts'

export interface AuditedRun {
  readonly runId: string
  readonly scenario: string
  readonly baseUrl: string
  readonly attempts: number
}

/**
 * The runs to audit, oldest first.
 *
 * @param wanted ids of runs; empty for every run against the base URL of the newest one
 * @throws UsageError for an unknown run, or a store without any
 */
export async function selectRuns(
  store: Store,
  wanted: readonly string[],
): Promise<readonly AuditedRun[]> {
  const all = await store.rows<AuditedRun>(
    `SELECT run_id AS "runId", scenario, base_url AS "baseUrl",
            (SELECT count(*) FROM attempts WHERE attempts.run_id = runs.run_id)::INTEGER AS attempts
     FROM runs WHERE kind <> 'calibrate' ORDER BY started_at, run_id`,
  )
  const newest = all.at(-1)
  if (newest === undefined) {
    throw new UsageError(
      `${store.path} holds no runs. Record one first: assay run <scenario> --db ${store.path}`,
    )
  }
  if (wanted.length === 0) return all.filter((run) => run.baseUrl === newest.baseUrl)
  const strangers = wanted.filter((runId) => !all.some((run) => run.runId === runId))
  if (strangers.length > 0) {
    throw new UsageError(
      `${store.path} holds no run ${strangers.join(', ')}. It holds ${all.map((run) => run.runId).join(', ')}.`,
    )
  }
  return all.filter((run) => wanted.includes(run.runId))
}
