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
  const hasSteady = phases.some(({ part }) => part === 'steady')
  return steps.flatMap((step, index) =>
    judgedTimes.flatMap((of) => {
      const us = tally
        .histogram(of, ({ part }, at) => at === index && (part === 'steady' || !hasSteady))
        .percentile(50)
      return us === null ? [] : [{ of, step: step.name, us }]
    }),
  )
}

/**
 * The requests that were due or in flight in event-loop gaps over the limit, and the greatest gap that one of them met;
 * the greatest of all if none met one. Requests are those of the steady part, or all if there is none. Null without
 * health rows.
 */
export async function clientGaps(
  session: Session,
  runId: string,
  limitUs: number,
): Promise<GapFigures | null> {
  const [longest] = await session.rows<{ us: number | null }>(
    'SELECT max(loop_gap_us) AS us FROM health WHERE run_id = $1 AND shard >= 0',
    [runId],
  )
  const longestUs = longest!.us
  if (longestUs === null) return null
  const sent = `SELECT shard, intended_us, closed_us FROM attempts
    WHERE run_id = $1 AND dispatched_us IS NOT NULL AND ${countedOfRun}`
  const [counted] = await session.rows<{ n: number }>(`SELECT count(*) AS n FROM (${sent})`, [
    runId,
  ])
  const requests = counted!.n
  if (longestUs <= limitUs) return { greatestUs: longestUs, limitUs, requests, tainted: 0 }
  const gaps = `SELECT shard, loop_gap_us, loop_gap_end_us, loop_gap_end_us - loop_gap_us AS from_us
    FROM health WHERE run_id = $1 AND loop_gap_us > $2 AND shard >= 0`
  const ticks = ticksOf(
    await session.rows<Gap>(
      `SELECT from_us AS "fromUs", loop_gap_end_us AS "endUs" FROM (${gaps}) ORDER BY "endUs"`,
      [runId, limitUs],
    ),
  )
  const isNear = (us: string) =>
    `get_bit($3::BIT, greatest(0, least(${us} // ${tickUs}, ${ticks.length - 1}))::INTEGER) = 1`
  const [row] = await session.rows<{ tainted: number; greatestUs: number | null }>(
    `WITH gaps AS (
       SELECT *, row_number() OVER (PARTITION BY shard ORDER BY loop_gap_end_us) AS nth
       FROM (${gaps})),
     -- Sorting costs the most, so only requests near a gap are sorted.
     near AS (
       FROM (${sent})
       WHERE closed_us - intended_us >= ${tickUs} OR ${isNear('intended_us')} OR ${isNear('closed_us')}),
     -- Gaps of a thread do not overlap: a request met those from the first that ended after it was due to the last
     -- that began before it closed.
     met AS (
       SELECT near.shard, first_gap.nth AS from_nth, last_gap.nth AS to_nth, count(*) AS requests
       FROM near
         ASOF JOIN gaps AS first_gap
           ON near.shard = first_gap.shard AND near.intended_us < first_gap.loop_gap_end_us
         ASOF JOIN gaps AS last_gap
           ON near.shard = last_gap.shard AND near.closed_us > last_gap.from_us
       WHERE from_nth <= to_nth
       GROUP BY ALL)
     SELECT (SELECT coalesce(sum(requests), 0)::BIGINT FROM met) AS tainted,
       (SELECT max(loop_gap_us) FROM gaps JOIN met USING (shard)
        WHERE nth BETWEEN from_nth AND to_nth) AS "greatestUs"`,
    [runId, limitUs, ticks],
  )
  const { tainted, greatestUs } = row!
  return { greatestUs: greatestUs ?? longestUs, limitUs, requests, tainted }
}

interface Gap {
  readonly fromUs: number
  readonly endUs: number
}

/** A shorter request lies in at most two ticks, those of its start and of its end. */
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

/** What a sending thread counted at one instant. */
interface Sample {
  readonly shard: number
  readonly atUs: number
  readonly inFlight: number
}

/** Samples that are compared at most; each is one filter over all rows. */
const mostSamples = 10

/**
 * Requests in flight at some instants of the run: as the senders counted them, and by the time stamps of
 * the rows. Null without a sample.
 */
export async function inFlightFigures(
  session: Session,
  runId: string,
): Promise<InFlightFigures | null> {
  const samples = spreadOver(
    await session.rows<Sample>(
      `SELECT shard, at_us AS "atUs", in_flight AS "inFlight" FROM health
       WHERE run_id = $1 AND shard >= 0 ORDER BY shard, at_us`,
      [runId],
    ),
  )
  if (samples.length === 0) return null
  const counts = samples.map(
    ({ shard, atUs }) =>
      `count(*) FILTER (shard = ${shard} AND dispatched_us <= ${atUs} AND closed_us > ${atUs})`,
  )
  const [row] = await session.rows<{ n: number }>(
    `SELECT (${counts.join(' + ')})::BIGINT AS n FROM attempts WHERE run_id = $1`,
    [runId],
  )
  const counted = samples.reduce((sum, { inFlight }) => sum + inFlight, 0)
  return { instants: samples.length, counted, byRows: row!.n }
}

/** Some samples, spread evenly over the threads and over the time of each. */
function spreadOver(samples: readonly Sample[]): readonly Sample[] {
  const all = [...Map.groupBy(samples, ({ shard }) => shard).values()]
  const compared = Math.min(all.length, mostSamples)
  const threads = Array.from(
    { length: compared },
    (_, nth) => all[Math.floor((nth * all.length) / compared)]!,
  )
  const count = Math.min(samples.length, mostSamples)
  const chosen = Array.from({ length: count }, (_, nth) => {
    const thread = threads[nth % threads.length]!
    return thread[Math.floor(((nth + 0.5) / count) * thread.length)]!
  })
  return [...new Set(chosen)]
}
