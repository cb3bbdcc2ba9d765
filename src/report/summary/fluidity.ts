import { fluidity } from '../../measure/shares.ts'
import type { Session } from '../../store/session/session.ts'
import { formatShare } from '../format.ts'
import { whole } from './figures.ts'
import type { Counted } from './groups.ts'
import type { RunSummary } from './shape.ts'

/** How many deadlines of their tokens the streams of each step kept; none without deadlines. */
export async function readFluidity(
  session: Session,
  { from, parameters }: Counted,
): Promise<RunSummary['fluidity']> {
  const { asked, of, value } = fluidity
  const rows = await session.rows<RunSummary['fluidity'][number]>(
    `SELECT step, count(*)::INTEGER AS streams, count(*) FILTER (${of})::INTEGER AS known,
       (sum(deadlines) FILTER (${of}))::DOUBLE AS deadlines,
       (sum(missed_deadlines) FILTER (${of}))::DOUBLE AS missed,
       count(*) FILTER (${of} AND ${value} >= 0.9)::INTEGER AS fluent
     FROM ${from} WHERE ${asked} GROUP BY step ORDER BY step`,
    [...parameters],
  )
  return [...rows]
}

/**
 * `Streams of chat kept 97.1 % of 4,000 token deadlines; 38 of 40 kept 90 % or more. Of 2 more it is not known.`
 *
 * @param nameOf how the place shows a name
 */
export const fluidityNotes = (
  all: RunSummary['fluidity'],
  nameOf: (name: string) => string,
): readonly string[] =>
  all.flatMap(({ step, streams, known, deadlines, missed, fluent }) => [
    ...(deadlines === null || missed === null
      ? []
      : [
          `Streams of ${nameOf(step)} kept ${formatShare(1 - missed / deadlines)} % of ${whole(deadlines)} token deadlines; ${whole(fluent)} of ${whole(known)} kept 90 % or more.`,
        ]),
    ...(streams === known
      ? []
      : [
          `Fluidity of ${whole(streams - known)} streams of ${nameOf(step)} is not known, because their tokens are not reported, or an event does not hold one each.`,
        ]),
  ])
