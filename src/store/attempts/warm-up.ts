import { sqlName } from '../../attempt/columns.ts'
import type { Session } from '../session/session.ts'
import { forms, shared } from './layout.ts'

/**
 * Moves what a run planned before a moment from its steady part to the part `warmup`: requests, tasks, and histograms that end
 * before it. No attempt is deleted.
 *
 * @param untilUs on the run's clock
 */
export async function moveToWarmUp(
  session: Session,
  runId: string,
  untilUs: number,
): Promise<void> {
  const until = Math.round(untilUs)
  const kinds = `(SELECT request_kind FROM request_kinds WHERE run_id = $1 AND part = 'steady')`
  const [numbers] = await session.rows<{ next: number }>(
    'SELECT (max(request_kind) + 1)::INTEGER AS next FROM request_kinds',
  )
  const moved = (kind: string) => `(${kind} + ${numbers!.next})::INTEGER`
  const others = shared.request_kinds.map((name) => (name === 'part' ? `'warmup'` : sqlName(name)))
  await session.execute(
    `INSERT INTO request_kinds (request_kind, ${shared.request_kinds.map(sqlName).join(', ')}) SELECT ${[moved('request_kind'), ...others].join(', ')} FROM request_kinds
     WHERE request_kind IN (SELECT DISTINCT request_kind FROM all_rows
       WHERE request_kind IN ${kinds} AND intended_us < ${until})`,
    [runId],
  )
  for (const { table, struct } of forms) {
    const own = struct ? 'own.' : ''
    const set = struct
      ? `own = struct_update(own, request_kind := ${moved('own.request_kind')})`
      : `request_kind = ${moved('request_kind')}`
    await session.execute(
      `UPDATE ${table} SET ${set} WHERE ${own}request_kind IN ${kinds} AND ${own}intended_us < ${until}`,
      [runId],
    )
  }
  // A kind of which every request was moved is none of the steady part.
  await session.execute(
    `DELETE FROM request_kinds WHERE request_kind IN ${kinds} AND request_kind NOT IN (SELECT request_kind FROM all_rows)`,
    [runId],
  )
  await session.execute(
    `UPDATE tasks SET part = 'warmup' WHERE run_id = $1 AND part = 'steady' AND intended_us < ${until}`,
    [runId],
  )
  await session.execute(
    `UPDATE histograms SET part = 'warmup'
     WHERE run_id = $1 AND part = 'steady' AND interval_us + interval_length_us <= ${until}`,
    [runId],
  )
}
