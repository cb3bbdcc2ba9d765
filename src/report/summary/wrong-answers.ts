import type { Session } from '../../store/session/session.ts'
import type { Counted } from './groups.ts'
import type { RunSummary } from './shape.ts'

const most = 10

/** The first answers that are wrong or could not be checked. */
export function readWrongAnswers(
  session: Session,
  { from, parameters }: Counted,
): Promise<RunSummary['wrongAnswers']> {
  return session.rows<RunSummary['wrongAnswers'][number]>(
    `SELECT step, slot::DOUBLE AS slot, retry, closed_us / 1e6 AS "atS", why, wrong_answers.answer
     FROM ${from} AS each JOIN wrong_answers USING (run_id, slot, retry)
     ORDER BY closed_us, slot, retry LIMIT ${most}`,
    [...parameters],
  ) as Promise<RunSummary['wrongAnswers']>
}
