import type { Reader } from '../session/session.ts'
import { resolveRun } from './runs.ts'

/** Runs of one scenario that repeat each other, oldest first. */
export interface Repeats {
  /** The name that they share. */
  readonly name: string
  readonly runIds: readonly string[]
  /** Those of them that are not INVALID. */
  readonly usable: readonly string[]
}

interface RepeatRow {
  readonly runId: string
  readonly name: string
  readonly verdict: string | null
}

/** Every run of `run --repeat`, newest first. */
const readRepeatRows = (store: Reader) =>
  store.rows<RepeatRow>(
    `SELECT run_id AS "runId", json_extract_string(scenario_json, '$.repeat.name') AS name, verdict
     FROM runs WHERE json_valid(scenario_json)
       AND json_extract_string(scenario_json, '$.repeat.name') IS NOT NULL
     ORDER BY started_at DESC, run_id DESC`,
  )

/** The repeats that a run is one of; null if it was not repeated. */
export async function readRepeats(store: Reader, runId: string): Promise<Repeats | null> {
  const rows = await readRepeatRows(store)
  const name = rows.find((row) => row.runId === runId)?.name
  if (name === undefined) return null
  const own = rows.filter((row) => row.name === name).toReversed()
  return {
    name,
    runIds: own.map(({ runId }) => runId),
    usable: own.flatMap(({ runId, verdict }) => (verdict === 'invalid' ? [] : [runId])),
  }
}

/**
 * Finds a run as `resolveRun` does, or repeats by the name that they share. Of repeats it is the last; `previous` is the run
 * before all repeats of the latest.
 *
 * @throws UserError when none or several fit
 */
export async function resolveRepeated(store: Reader, meant: string): Promise<string> {
  const rows = await readRepeatRows(store)
  const named = rows.find(({ name }) => name === meant)
  if (named !== undefined) return named.runId
  if (meant !== 'previous') return resolveRun(store, meant)
  const latest = await readRepeats(store, await resolveRun(store, 'latest'))
  const runs = await store.rows<{ runId: string }>(
    'SELECT run_id AS "runId" FROM runs ORDER BY started_at DESC, run_id',
  )
  const before = runs.find(({ runId }) => latest?.runIds.includes(runId) === false)
  return before?.runId ?? resolveRun(store, meant)
}
