import type { Store } from './open.ts'

/** What is known when a run begins. */
export interface RunStart {
  readonly runId: string
  readonly kind: 'run' | 'probe' | 'calibrate' | 'import'
  /** Name of the scenario. */
  readonly scenario: string
  readonly scenarioJson: string
  readonly seed: number
  /** Credentials in it are removed before it is kept. */
  readonly baseUrl: string
  /** Name of the contract. */
  readonly contract: string
  /** Unix microseconds of microsecond 0 of the run's clock. */
  readonly startedAtUs: number
  /** Seconds of the service's time in one of ours. */
  readonly timeScale: number
  readonly assayVersion: string
  readonly machineJson: string
}

/** What is known when it ended. */
export interface RunEnd {
  readonly endedUs: number
  readonly ledgerJson: string
  readonly verdict: 'valid' | 'degraded' | 'invalid'
  readonly verdictJson: string
}

/** Enters a run, before its first attempt. */
export async function startRun(store: Store, run: RunStart): Promise<void> {
  await store.execute(
    `INSERT INTO runs (run_id, kind, scenario, scenario_json, seed, base_url, contract,
                       started_at, time_scale, assay_version, machine_json)
     VALUES ($1, $2, $3, $4, $5, $6, $7, make_timestamp($8::BIGINT), $9, $10, $11)`,
    [
      run.runId,
      run.kind,
      run.scenario,
      run.scenarioJson,
      run.seed,
      withoutCredentials(run.baseUrl),
      run.contract,
      BigInt(Math.round(run.startedAtUs)),
      run.timeScale,
      run.assayVersion,
      run.machineJson,
    ],
  )
}

/** Enters how a run ended. */
export async function endRun(store: Store, runId: string, end: RunEnd): Promise<void> {
  await store.execute(
    `UPDATE runs SET ended_us = $2, ledger_json = $3, verdict = $4, verdict_json = $5
     WHERE run_id = $1`,
    [runId, BigInt(Math.round(end.endedUs)), end.ledgerJson, end.verdict, end.verdictJson],
  )
}

/** A base URL as it may be kept and printed: no user, no password, no query. */
export function withoutCredentials(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) return '(not a URL)'
  const url = new URL(baseUrl)
  return `${url.origin}${url.pathname.replace(/\/$/, '')}`
}
