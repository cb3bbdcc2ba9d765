import type { Session } from '../../store/session/session.ts'

/** Rates are per second. */
const windowUs = 1e6
/** Tolerated lateness at the end of a window: the bound of lag (measurement.md, 4). */
const graceUs = 5000

/**
 * Compares the achieved rate of an open phase with the planned one. Counts the planned first attempts,
 * and those handed to the client within the second of the phase in which they were due. A later second
 * does not compensate: a run that is always half a second late achieves half its rate. Attempts that
 * were not sent do not count as achieved.
 *
 * @param phase its start in microseconds of the run
 */
export async function arrivalsInTime(
  session: Session,
  runId: string,
  phase: { readonly name: string; readonly startUs: number },
): Promise<{ readonly planned: number; readonly inTime: number }> {
  const [row] = await session.rows<{ planned: number; in_time: number }>(
    `SELECT count(*)::BIGINT AS planned,
       count(*) FILTER (dispatched_us <
         ((intended_us - $3) // ${windowUs} + 1) * ${windowUs} + $3 + ${graceUs})::BIGINT AS in_time
     FROM attempts WHERE run_id = $1 AND phase = $2 AND retry = 0 AND coalesce(turn, 0) = 0`,
    [runId, phase.name, BigInt(phase.startUs)],
  )
  return { planned: row?.planned ?? 0, inTime: row?.in_time ?? 0 }
}
