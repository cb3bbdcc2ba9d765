import { userError } from '../../user/user-error.ts'
import { forms } from '../attempts/layout.ts'
import { hasRows } from '../has-rows.ts'
import { insertRow, timestampOf } from '../insert-row.ts'
import type { Reader, Session } from '../session/session.ts'
import type { RunEnd } from './run-end.ts'
import { type ShardStart, startShard } from './run-shards.ts'

/** What is known at the start of a run. */
export interface RunStart {
  readonly runId: string
  readonly kind: 'run' | 'probe' | 'calibrate' | 'import'
  /** Name of the scenario. */
  readonly scenario: string
  readonly scenarioJson: string
  readonly seed: number
  /** Stored without credentials. */
  readonly baseUrl: string
  /** Name of the contract. */
  readonly contract: string
  /** Unix microseconds of microsecond 0 of the run's clock. */
  readonly startedAtUs: number
  /** Seconds of service time per second. */
  readonly timeScale: number
  readonly assayVersion: string
  readonly machineJson: string
  /** The part of the run that this machine sends; absent if it sends all. */
  readonly part?: ShardStart
}

/** Enters a run before its first attempt. @throws UserError when the id is taken */
export async function startRun(session: Session, run: RunStart): Promise<void> {
  if (await hasRows(session, 'runs WHERE run_id = $1', [run.runId])) {
    throw userError.store(
      `${session.path} holds a run ${run.runId} already. Give another --run-id, or another --db.`,
    )
  }
  if (run.part !== undefined) await startShard(session, run, run.part)
  await insertRow(session, 'runs', {
    run_id: run.runId,
    kind: run.kind,
    scenario: run.scenario,
    scenario_json: run.scenarioJson,
    seed: run.seed,
    base_url: withoutCredentials(run.baseUrl),
    contract: run.contract,
    started_at: timestampOf(run.startedAtUs),
    time_scale: run.timeScale,
    assay_version: run.assayVersion,
    machine_json: run.machineJson,
  })
}

export async function endRun(session: Session, runId: string, end: RunEnd): Promise<void> {
  await session.execute(
    `UPDATE runs SET ended_us = $2, attempt_counts_json = $3, verdict = $4, verdict_json = $5
     WHERE run_id = $1`,
    [runId, BigInt(Math.round(end.endedUs)), end.attemptCountsJson, end.verdict, end.verdictJson],
  )
}

/** A base URL that is safe to keep and print: no user, password or query. */
export function withoutCredentials(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) return '(not a URL)'
  const url = new URL(baseUrl)
  return `${url.origin}${url.pathname.replace(/\/$/, '')}`
}

export interface RunRow {
  readonly run_id: string
  readonly kind: string
  readonly scenario: string
  readonly scenario_json: string
  readonly seed: number | bigint
  readonly base_url: string
  readonly contract: string
  readonly started_at: Date
  /** Null during the run, and after a kill. */
  readonly ended_us: number | null
  readonly time_scale: number
  readonly assay_version: string
  readonly machine_json: string
  readonly verdict: RunEnd['verdict'] | null
  readonly verdict_json: string | null
}

export interface ListedRun {
  readonly runId: string
  readonly kind: string
  readonly scenario: string
  readonly startedAt: Date
  /** Null during the run, and after a kill. */
  readonly endedUs: number | null
  readonly attempts: number
  readonly verdict: string | null
  readonly baseUrl: string
}

/**
 * All runs, newest first.
 *
 * @example
 * const store = await openExistingStore('assay.duckdb')
 * for (const { runId, scenario, attempts } of await listRuns(store))
 *   console.log(runId, scenario, attempts)
 * store.close()
 */
export async function listRuns(store: Reader): Promise<readonly ListedRun[]> {
  return store.rows<ListedRun>(
    `SELECT run_id AS "runId", kind, scenario, started_at AS "startedAt", ended_us AS "endedUs",
       coalesce(n, 0)::BIGINT AS attempts, verdict, base_url AS "baseUrl"
     FROM runs LEFT JOIN (SELECT run_id, count(*) AS n FROM attempts GROUP BY run_id) USING (run_id)
     ORDER BY started_at DESC, run_id`,
  )
}

/**
 * Finds a run by its id, the beginning of an id, `latest`, or `previous` (the one before).
 *
 * @throws UserError when none or several fit
 */
export async function resolveRun(store: Reader, meant: string): Promise<string> {
  const runs = await store.rows<Pick<ListedRun, 'runId' | 'scenario'>>(
    'SELECT run_id AS "runId", scenario FROM runs ORDER BY started_at DESC, run_id',
  )
  const byAge = runs[['latest', 'previous'].indexOf(meant)]
  if (byAge !== undefined) return byAge.runId
  const exact = runs.find((run) => run.runId === meant)
  if (exact !== undefined) return exact.runId
  const fitting = runs.filter((run) => meant !== '' && run.runId.startsWith(meant))
  if (fitting.length === 1) return fitting[0]!.runId
  const known = runs.slice(0, 5).map((run) => `${run.runId} (${run.scenario})`)
  throw userError.report(
    `${store.path}: ${fitting.length === 0 ? 'no run' : `${fitting.length} runs`} "${meant}". ${
      known.length === 0
        ? 'The store has no runs: make one with assay run, or import one.'
        : `It has ${known.join(', ')}${runs.length > 5 ? ', …' : ''}; see assay runs.`
    }`,
  )
}

/** Finds each run as `resolveRun` does. */
export async function resolveRuns(
  store: Reader,
  meant: readonly string[],
): Promise<readonly string[]> {
  const runIds: string[] = []
  for (const each of meant) runIds.push(await resolveRun(store, each))
  return runIds
}

/** The highest rates that this machine was measured to send. */
export interface Ceiling {
  readonly plainPerS: number
  readonly eventsPerS: number
  readonly threads: number
}

/** The latest calibration in the store of an equal machine with as many threads; null if there is none. */
export async function latestCeiling(
  store: Reader,
  machineJson: string,
  threads: number,
): Promise<Ceiling | null> {
  const rows = await store.rows<{ verdict_json: string | null }>(
    `SELECT verdict_json FROM runs WHERE kind = 'calibrate' AND machine_json = $1
     ORDER BY started_at DESC`,
    [machineJson],
  )
  for (const row of rows) {
    const ceiling = (JSON.parse(row.verdict_json ?? '{}') as { readonly ceiling?: Ceiling }).ceiling
    if (ceiling?.threads === threads) return ceiling
  }
  return null
}

/** What the service exposed during a run. */
export const metricTables = ['metric_sources', 'metric_scrapes', 'metric_series', 'metric_points']

/** Deletes the attempts of a run but keeps its row in `runs`. */
export async function dropAttempts(session: Session, runId: string): Promise<void> {
  for (const { table, struct } of forms) {
    await session.execute(
      `DELETE FROM ${table} WHERE ${struct ? 'own.request_kind' : 'request_kind'} IN
         (SELECT request_kind FROM request_kinds WHERE run_id = $1)`,
      [runId],
    )
  }
  for (const table of [
    'request_kinds',
    'templates',
    'bodies',
    'wrong_answers',
    'tasks',
    'histograms',
    'health',
    'run_shards',
    ...metricTables,
  ]) {
    await session.execute(`DELETE FROM ${table} WHERE run_id = $1`, [runId])
  }
}
