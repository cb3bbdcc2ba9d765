import { insertRow, timestampOf } from '../insert-row.ts'
import type { Session } from '../session/session.ts'
import type { RunEnd } from './run-end.ts'

/** The entry of a machine that begins its part of a run. */
export interface ShardStart {
  /** From 0. */
  readonly shard: number
  /** Number of shards of the run. */
  readonly shards: number
  /** Id of this process: a shard that runs again is another try. */
  readonly attempt: string
  /** Hash of what all shards share: scenario, prompts, seed, contract, version, number of shards. */
  readonly planHash: string
  /** When this process began, Unix microseconds of its own clock. */
  readonly beganAtUs: number
}

export interface RunShard {
  readonly runId: string
  readonly shard: number
  readonly shards: number
  readonly attempt: string
  readonly planHash: string
  /** The agreed start of the run by the machine's clock, a timestamp as text. */
  readonly startedAt: string
  /** Unix microseconds: when its process began, and when its last request ended; the end is null if it was killed. */
  readonly beganUs: number
  readonly endedUs: number | null
  readonly machineJson: string
  /** Null if the shard was killed. */
  readonly attemptCountsJson: string | null
  readonly verdict: RunEnd['verdict'] | null
  readonly verdictJson: string | null
  /** Upper bound of the offset between its clock and that of shard 0, if measured. */
  readonly clockErrorUs: number | null
}

/** The run id of a try that does not count. `--run-id` refuses such names. */
export const tryId = (runId: string, { shard, attempt }: RunShard) => `${runId}~${shard}.${attempt}`

/** The id of the run that a stored run is, or is a try of. */
export const runIdOfShard = (runId: string) => runId.split('~')[0]!

/** Ids of the other tries of a run, in order. */
export async function otherTries(session: Session, runId: string): Promise<readonly string[]> {
  const tries = await session.rows<{ runId: string }>(
    `SELECT run_id AS "runId" FROM runs WHERE starts_with(run_id, $1 || '~') ORDER BY run_id`,
    [runId],
  )
  return tries.map((each) => each.runId)
}

/** The parts of a run on several machines; `runs` has the run as a whole. `ended_us` is from the start of the run, as times of `attempts` are. */
export const runShardsSql = `CREATE TABLE IF NOT EXISTS run_shards (
  run_id VARCHAR NOT NULL, shard INTEGER NOT NULL, shards INTEGER NOT NULL, attempt VARCHAR NOT NULL,
  plan_hash VARCHAR NOT NULL, began_at TIMESTAMP NOT NULL, machine_json VARCHAR NOT NULL,
  ended_us BIGINT, attempt_counts_json VARCHAR, verdict VARCHAR, verdict_json VARCHAR);
  ALTER TABLE run_shards ADD COLUMN IF NOT EXISTS clock_error_us DOUBLE`

export async function startShard(
  session: Session,
  run: { readonly runId: string; readonly machineJson: string },
  start: ShardStart,
): Promise<void> {
  await insertRow(session, 'run_shards', {
    run_id: run.runId,
    shard: start.shard,
    shards: start.shards,
    attempt: start.attempt,
    plan_hash: start.planHash,
    began_at: timestampOf(start.beganAtUs),
    machine_json: run.machineJson,
  })
}

export async function endShard(
  session: Session,
  runId: string,
  end: RunEnd & Pick<RunShard, 'clockErrorUs'>,
): Promise<void> {
  await session.execute(
    `UPDATE run_shards SET ended_us = $2, attempt_counts_json = $3, verdict = $4, verdict_json = $5,
       clock_error_us = $6 WHERE run_id = $1`,
    [
      runId,
      BigInt(Math.round(end.endedUs)),
      end.attemptCountsJson,
      end.verdict,
      end.verdictJson,
      end.clockErrorUs,
    ],
  )
}

/** Parts in the store, of one run or of all, in order. */
export function readShards(
  session: Session,
  runId: string | null = null,
): Promise<readonly RunShard[]> {
  return session.rows<RunShard>(
    `SELECT run_id AS "runId", shard, shards, attempt, plan_hash AS "planHash",
       started_at::VARCHAR AS "startedAt", epoch_us(began_at)::DOUBLE AS "beganUs",
       (epoch_us(started_at) + run_shards.ended_us)::DOUBLE AS "endedUs", run_shards.machine_json AS "machineJson", run_shards.attempt_counts_json AS "attemptCountsJson",
       run_shards.verdict, run_shards.verdict_json AS "verdictJson", clock_error_us AS "clockErrorUs"
     FROM run_shards LEFT JOIN runs USING (run_id) WHERE coalesce(run_id = $1, true) ORDER BY run_id, shard, attempt`,
    [runId],
  )
}
