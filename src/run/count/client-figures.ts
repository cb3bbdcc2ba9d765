import { countedOfRun } from '../../measure/standings.ts'
import type { Scenario } from '../../scenario/scenario.ts'
import type { Session } from '../../store/session/session.ts'
import type { PhaseRun } from '../crew/messages.ts'
import {
  type GapFigures,
  type InFlightFigures,
  judgedTimes,
  type Median,
} from '../judge/client-tests.ts'
import type { Tally } from './tally.ts'

/** Median times of each step, over the steady phases, or over all phases if none is steady. */
export function mediansOf(
  { steps }: Scenario,
  phases: readonly PhaseRun[],
  tally: Tally,
): readonly Median[] {
  const someSteady = phases.some(({ part }) => part === 'steady')
  return steps.flatMap((step, index) =>
    judgedTimes.flatMap((of) => {
      const us = tally
        .histogram(of, ({ part }, at) => at === index && (part === 'steady' || !someSteady))
        .percentile(50)
      return us === null ? [] : [{ of, step: step.name, us }]
    }),
  )
}

/**
 * The greatest gap of the sending threads, and the requests that were due or in flight in gaps over the
 * limit. Requests are those of the steady part, or all if there is none. Null without health rows.
 */
export async function clientGaps(
  store: Session,
  runId: string,
  limitUs: number,
): Promise<GapFigures | null> {
  const [longest] = await store.rows<{ us: number | null }>(
    'SELECT max(loop_gap_us) AS us FROM health WHERE run_id = $1 AND shard >= 0',
    [runId],
  )
  const greatestUs = longest!.us
  if (greatestUs === null) return null
  const sent = `SELECT shard, intended_us, closed_us FROM attempts
    WHERE run_id = $1 AND dispatched_us IS NOT NULL AND ${countedOfRun}`
  const [counted] = await store.rows<{ n: number }>(`SELECT count(*) AS n FROM (${sent})`, [runId])
  const requests = counted!.n
  if (greatestUs <= limitUs) return { greatestUs, limitUs, requests, tainted: 0 }
  // Sorting costs the most here, so only requests near a gap are sorted. Gaps of a thread do not overlap: a
  // request met those from the first that ended after it was due to the last that began before it closed.
  const gaps = `SELECT shard, loop_gap_us, loop_gap_end_us, loop_gap_end_us - loop_gap_us AS from_us
    FROM health WHERE run_id = $1 AND loop_gap_us > $2 AND shard >= 0`
  const near = ticksOf(
    await store.rows<Gap>(
      `SELECT from_us AS "fromUs", loop_gap_end_us AS "endUs" FROM (${gaps}) ORDER BY "endUs"`,
      [runId, limitUs],
    ),
  )
  const [row] = await store.rows<{ tainted: number; greatest: number | null }>(
    `WITH gaps AS (
       SELECT *, row_number() OVER (PARTITION BY shard ORDER BY loop_gap_end_us) AS nth
       FROM (${gaps})),
     met AS (
       SELECT sent.shard, first_gap.nth AS from_nth, last_gap.nth AS to_nth, count(*) AS requests
       FROM (FROM (${sent}) WHERE closed_us - intended_us >= ${tickUs}
           OR ${isNear('intended_us', near)} OR ${isNear('closed_us', near)}) AS sent
         ASOF JOIN gaps AS first_gap
           ON sent.shard = first_gap.shard AND sent.intended_us < first_gap.loop_gap_end_us
         ASOF JOIN gaps AS last_gap
           ON sent.shard = last_gap.shard AND sent.closed_us > last_gap.from_us
       WHERE from_nth <= to_nth
       GROUP BY ALL)
     SELECT (SELECT coalesce(sum(requests), 0)::BIGINT FROM met) AS tainted,
       (SELECT max(loop_gap_us) FROM gaps JOIN met USING (shard)
        WHERE nth BETWEEN from_nth AND to_nth) AS greatest`,
    [runId, limitUs, near],
  )
  const { tainted, greatest } = row!
  return { greatestUs: greatest ?? greatestUs, limitUs, requests, tainted }
}

interface Gap {
  readonly fromUs: number
  readonly endUs: number
}

/** Shorter requests begin or end in a tick of each gap that they meet. */
const tickUs = 20_000

/**
 * A bit for each tick of the run, 1 where it holds a part of a gap; the last is 0.
 *
 * @param gaps in the order of their ends
 */
function ticksOf(gaps: readonly Gap[]): string {
  const tickOf = (us: number) => Math.max(0, Math.floor(us / tickUs))
  const bits = new Array<string>(tickOf(gaps.at(-1)!.endUs) + 2).fill('0')
  for (const { fromUs, endUs } of gaps) bits.fill('1', tickOf(fromUs), tickOf(endUs) + 1)
  return bits.join('')
}

const isNear = (us: string, near: string) =>
  `get_bit($3::BIT, greatest(0, least(${us} // ${tickUs}, ${near.length - 1}))::INTEGER) = 1`

/** Instants that are compared at most; each is one filter over all rows. */
const mostInstants = 10

/**
 * Requests in flight at some instants of the run: as the senders counted them, and by the time stamps of
 * the rows. Null without a sample.
 */
export async function inFlightFigures(
  store: Session,
  runId: string,
): Promise<InFlightFigures | null> {
  const samples = await store.rows<{ shard: number; at_us: number; in_flight: number }>(
    `SELECT shard, at_us, in_flight FROM health WHERE run_id = $1 AND shard >= 0
     ORDER BY at_us, shard`,
    [runId],
  )
  const every = Math.ceil(samples.length / mostInstants)
  const chosen = samples.filter((_, at) => at % every === 0)
  if (chosen.length === 0) return null
  const counts = chosen.map(
    (_, at) => `count(*) FILTER (shard = $${at * 2 + 2} AND dispatched_us <= $${at * 2 + 3}
                                 AND closed_us > $${at * 2 + 3})`,
  )
  const [row] = await store.rows<{ n: number }>(
    `SELECT (${counts.join(' + ')})::BIGINT AS n FROM attempts WHERE run_id = $1`,
    [runId, ...chosen.flatMap(({ shard, at_us }) => [shard, at_us])],
  )
  const counted = chosen.reduce((sum, { in_flight }) => sum + in_flight, 0)
  return { instants: chosen.length, counted, byRows: row!.n }
}
