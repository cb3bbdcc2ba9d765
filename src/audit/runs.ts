import { serviceUrl } from '../contract/base-url.ts'
import type { Contract } from '../contract/contract.ts'
import { runIdOfShard } from '../store/runs/run-shards.ts'
import type { ListedRun } from '../store/runs/runs.ts'
import type { Reader } from '../store/session/session.ts'
import { UserError } from '../user/user-error.ts'
import type { MissingParts } from './rule.ts'

export interface AuditedRun extends Pick<ListedRun, 'runId' | 'scenario' | 'baseUrl' | 'attempts'> {
  /** Of these, the ones before the load: first requests and warm-up. */
  readonly before: number
}

/**
 * The runs to audit, oldest first: those `wanted`, or all against the base URL of the newest one that is not against a
 * reference.
 *
 * @throws UserError for an unknown run, or a store without any
 */
export async function selectRuns(
  store: Reader,
  wanted: readonly string[],
  contract?: Contract,
): Promise<readonly AuditedRun[]> {
  const all = await store.rows<AuditedRun>(
    `SELECT run_id AS "runId", scenario, base_url AS "baseUrl",
            (SELECT count(*) FROM attempts WHERE attempts.run_id = runs.run_id)::INTEGER AS attempts,
            (SELECT count(*) FROM attempts WHERE attempts.run_id = runs.run_id AND part = 'warmup')::INTEGER AS before
     FROM runs WHERE kind <> 'calibrate' ORDER BY started_at, run_id`,
  )
  const references = referencesOf(contract)
  const newest = all.findLast(({ baseUrl }) => !references.includes(baseUrl)) ?? all.at(-1)
  if (newest === undefined)
    throw new UserError(
      'usage',
      `${store.path} has no runs. Record one first: assay run <scenario> --db ${store.path}`,
    )
  if (wanted.length === 0) return all.filter((run) => run.baseUrl === newest.baseUrl)
  const strangers = wanted.filter((runId) => !all.some((run) => run.runId === runId))
  if (strangers.length > 0)
    throw new UserError(
      'usage',
      `${store.path} has no run ${strangers.join(', ')}. It has ${all.map((run) => run.runId).join(', ')}.`,
    )
  // Other tries of a shard used the same accounts.
  return all.filter((run) => wanted.includes(run.runId) || wanted.includes(runIdOfShard(run.runId)))
}

/** The base URLs of the services with which a contract compares its own. */
function referencesOf(contract: Contract | undefined): readonly string[] {
  return (contract?.models ?? []).flatMap(({ reference }) =>
    reference === undefined ? [] : [serviceUrl(reference.baseUrl, contract!)],
  )
}

const runIdsIn = async (
  store: Pick<Reader, 'rows'>,
  ...query: Parameters<Reader['rows']>
): Promise<readonly string[]> =>
  (await store.rows<{ runId: string }>(...query)).map(({ runId }) => runId)

/** The runs against a base URL, oldest first. */
export async function runsAgainst(
  store: Pick<Reader, 'rows'>,
  baseUrl: string,
): Promise<readonly string[]> {
  return runIdsIn(
    store,
    `SELECT run_id AS "runId" FROM runs WHERE base_url = $1 AND kind <> 'calibrate' ORDER BY started_at, run_id`,
    [baseUrl],
  )
}

/** Other runs against the addresses of these and of the contract's references: which service, what they abandoned, accounts in use. */
export async function runsBeside(
  store: Reader,
  runIds: readonly string[],
  contract?: Contract,
): Promise<readonly string[]> {
  return runIdsIn(
    store,
    `SELECT run_id AS "runId" FROM runs
     WHERE NOT list_contains($1::VARCHAR[], run_id)
       AND (base_url IN (SELECT base_url FROM runs WHERE list_contains($1::VARCHAR[], run_id))
         OR list_contains($2::VARCHAR[], base_url))
     ORDER BY started_at, run_id`,
    [JSON.stringify(runIds), JSON.stringify(referencesOf(contract))],
  )
}

/** Runs without an end. */
export async function killedRuns(
  store: Reader,
  runIds: readonly string[],
): Promise<readonly string[]> {
  return runIdsIn(
    store,
    `SELECT run_id AS "runId" FROM runs
     WHERE ended_us IS NULL AND list_contains($1::VARCHAR[], run_id) ORDER BY run_id`,
    [JSON.stringify(runIds)],
  )
}

/** SQL: the parts of runs that are in the store, which are known also before the run is judged as a whole. Another try of a part is none. */
const partsSql = `(SELECT run_id, max(shards) AS shards, count(DISTINCT shard)::INTEGER AS stored FROM run_shards WHERE NOT contains(run_id, '~') GROUP BY run_id)`

/**
 * Runs of several processes with parts missing in the store, by `attempt_counts_json`: `{"parts": {"of": 3, "present": 2}}`. A
 * merged run that was not judged has none: the parts themselves say it.
 */
export function missingParts(
  store: Reader,
  runIds: readonly string[],
): Promise<readonly MissingParts[]> {
  return store.rows<MissingParts>(
    `SELECT run_id AS "runId", of, present
     FROM (SELECT run_id, coalesce((attempt_counts_json->>'$.parts.of')::INTEGER, shards) AS of,
             coalesce((attempt_counts_json->>'$.parts.present')::INTEGER, stored, 0) AS present
           FROM runs LEFT JOIN ${partsSql} AS parts USING (run_id) WHERE list_contains($1::VARCHAR[], run_id))
     WHERE present < of ORDER BY run_id`,
    [JSON.stringify(runIds)],
  )
}

/** SQL over `runs`: by how many microseconds of its time the clocks of a run's hosts may differ; 0 if not given. */
export const clockErrorUs = `coalesce((runs.attempt_counts_json->>'$.clockErrorUs')::DOUBLE, 0)`

/** Runs of machines with unknown clock offsets, several of which used one account: its requests have no order. */
export async function unknownClocks(
  store: Reader,
  runIds: readonly string[],
): Promise<readonly { readonly runId: string }[]> {
  const open = await store.rows<{ runId: string; threads: number }>(
    `SELECT run_id AS "runId", (scenario_json->>'$.threads')::INTEGER AS threads
     FROM runs LEFT JOIN ${partsSql} AS parts USING (run_id)
     WHERE list_contains($1::VARCHAR[], run_id)
       AND coalesce((attempt_counts_json->>'$.parts.present')::INTEGER, stored) > 1
       AND (attempt_counts_json->>'$.clockErrorUs') IS NULL ORDER BY run_id`,
    [JSON.stringify(runIds)],
  )
  const shared: { runId: string }[] = []
  for (const { runId, threads } of open) {
    const accounts = await store.rows(
      `SELECT 1 FROM attempts WHERE run_id = $1 AND sent_us IS NOT NULL
       GROUP BY coalesce(account, key_fp, '') HAVING count(DISTINCT shard // $2) > 1 LIMIT 1`,
      [runId, threads],
    )
    if (accounts.length > 0) shared.push({ runId })
  }
  return shared
}
