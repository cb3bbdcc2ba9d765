import type { Store } from '../store/open.ts'

/** A rate is so many in a second: so long is a window. */
const windowUs = 1e6
/** What a request may be late before a window's end counts: the bound of lag (measurement.md, 4). */
const graceUs = 5000

/**
 * The achieved rate of an open phase, against the planned one: of its first attempts, how many were
 * planned, and how many of these were handed to the client within the second of the phase that they
 * were due in. Those that left in a later second are not made up for there: a run that is half a
 * second late throughout achieves half its rate. Not sent is not achieved.
 *
 * @param startUs of the phase, in microseconds of the run
 */
export async function arrivalsInTime(
  store: Store,
  runId: string,
  phase: { readonly name: string; readonly startUs: number },
): Promise<{ readonly planned: number; readonly inTime: number }> {
  const [row] = await store.rows<{ planned: number; in_time: number }>(
    `SELECT count(*)::BIGINT AS planned,
       count(*) FILTER (dispatched_us <
         ((intended_us - $3) // ${windowUs} + 1) * ${windowUs} + $3 + ${graceUs})::BIGINT AS in_time
     FROM attempts WHERE run_id = $1 AND phase = $2 AND retry = 0 AND coalesce(turn, 0) = 0`,
    [runId, phase.name, BigInt(phase.startUs)],
  )
  return { planned: row?.planned ?? 0, inTime: row?.in_time ?? 0 }
}
