import type { Store } from './open.ts'
import type { RunEnd } from './runs.ts'

/** What a machine enters when it begins its part of a run. */
export interface ShardStart {
  /** From 0. */
  readonly shard: number
  /** How many there are of the run. */
  readonly shards: number
  /** Of this process alone: a shard that runs again is another try. */
  readonly attempt: string
  /** What every shard of a run has in common: scenario, prompts, seed, contract, version, number of shards. */
  readonly planHash: string
  /** Unix microseconds: when this process began, by its own clock. */
  readonly beganAtUs: number
}

/** One part of a run, as a store has it. */
export interface RunShard {
  readonly runId: string
  readonly shard: number
  readonly shards: number
  readonly attempt: string
  readonly planHash: string
  /** The agreed start of the run, by the clock of the machine; text of a timestamp. */
  readonly startedAt: string
  /** Unix microseconds: when its process began, and its last request ended; null of a shard that was killed. */
  readonly beganUs: number
  readonly endedUs: number | null
  readonly machineJson: string
  /** These are null of a shard that was killed. */
  readonly attemptCountsJson: string | null
  readonly verdict: RunEnd['verdict'] | null
  readonly verdictJson: string | null
  /** How far its clock was from that of shard 0 at most, where it measured that. */
  readonly clockErrorUs: number | null
}

/** A try of a shard that does not count is kept as a run of its own, by a name that `--run-id` refuses. */
export const tryId = (runId: string, { shard, attempt }: RunShard) => `${runId}~${shard}.${attempt}`

/** The run that a stored one is, or is another try of. */
export const wholeOf = (runId: string) => runId.split('~')[0]!

/** Names of the other tries of a run, in order. */
export async function otherTries(store: Store, runId: string): Promise<readonly string[]> {
  const tries = await store.rows<{ runId: string }>(
    `SELECT run_id AS "runId" FROM runs WHERE starts_with(run_id, $1 || '~') ORDER BY run_id`,
    [runId],
  )
  return tries.map((each) => each.runId)
}

/** The parts of runs on several machines, beside the run as a whole in `runs`. */
export const runShardsSql = `CREATE TABLE IF NOT EXISTS run_shards (
  run_id VARCHAR NOT NULL, shard INTEGER NOT NULL, shards INTEGER NOT NULL, attempt VARCHAR NOT NULL,
  plan_hash VARCHAR NOT NULL, began_at TIMESTAMP NOT NULL, machine_json VARCHAR NOT NULL,
  ended_us BIGINT, attempt_counts_json VARCHAR, verdict VARCHAR, verdict_json VARCHAR);
  ALTER TABLE run_shards ADD COLUMN IF NOT EXISTS clock_error_us DOUBLE`

export async function startShard(
  store: Store,
  run: { readonly runId: string; readonly machineJson: string },
  start: ShardStart,
): Promise<void> {
  await store.execute(
    `INSERT INTO run_shards (run_id, shard, shards, attempt, plan_hash, began_at, machine_json)
     VALUES ($1, $2, $3, $4, $5, make_timestamp($6::BIGINT), $7)`,
    [
      run.runId,
      start.shard,
      start.shards,
      start.attempt,
      start.planHash,
      BigInt(Math.round(start.beganAtUs)),
      run.machineJson,
    ],
  )
}

export async function endShard(
  store: Store,
  runId: string,
  end: RunEnd & Pick<RunShard, 'clockErrorUs'>,
): Promise<void> {
  await store.execute(
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

/** The parts that a store holds, of one run or of all, in order. */
export function readShards(
  store: Store,
  runId: string | null = null,
): Promise<readonly RunShard[]> {
  return store.rows<RunShard>(
    `SELECT run_id AS "runId", shard, shards, attempt, plan_hash AS "planHash",
       started_at::VARCHAR AS "startedAt", epoch_us(began_at)::DOUBLE AS "beganUs",
       (epoch_us(started_at) + run_shards.ended_us)::DOUBLE AS "endedUs", run_shards.machine_json AS "machineJson", run_shards.attempt_counts_json AS "attemptCountsJson",
       run_shards.verdict, run_shards.verdict_json AS "verdictJson", clock_error_us AS "clockErrorUs"
     FROM run_shards LEFT JOIN runs USING (run_id) WHERE coalesce(run_id = $1, true) ORDER BY run_id, shard, attempt`,
    [runId],
  )
}
