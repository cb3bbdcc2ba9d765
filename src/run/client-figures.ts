import type { Scenario } from '../scenario/scenario.ts'
import type { Store } from '../store/open.ts'
import type { GapFigures, InFlightFigures, Median } from './client-tests.ts'
import type { PhaseRun } from './messages.ts'
import type { Tally } from './tally.ts'

/** Median times of each step, over the steady phases, or over all phases if none is steady. */
export function mediansOf(
  { steps }: Scenario,
  phases: readonly PhaseRun[],
  tally: Tally,
): readonly Median[] {
  const someSteady = phases.some(({ part }) => part === 'steady')
  return steps.flatMap((step, index) =>
    (['response', 'ttft', 'itl'] as const).flatMap((of) => {
      const us = tally
        .histogram(of, ({ part }, at) => at === index && (part === 'steady' || !someSteady))
        .percentile(50)
      return us === null ? [] : [{ of, step: step.name, us }]
    }),
  )
}

const noSteady = `NOT EXISTS (FROM request_kinds WHERE run_id = $1 AND part = 'steady')`

/**
 * The greatest gap of the sending threads, and the requests that were due or in flight in gaps over the
 * limit. Requests are those of the steady part, or all if there is none. Null without health rows.
 */
export async function clientGaps(
  store: Store,
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
    WHERE run_id = $1 AND dispatched_us IS NOT NULL AND (part = 'steady' OR ${noSteady})`
  if (greatestUs <= limitUs) {
    const [row] = await store.rows<{ n: number }>(`SELECT count(*) AS n FROM (${sent})`, [runId])
    return { greatestUs, limitUs, requests: row!.n, tainted: 0 }
  }
  // Gaps of a thread do not overlap. A request thus met the gaps from the first that ended after it was
  // due to the last that began before it closed.
  const [row] = await store.rows<{ requests: number; tainted: number; greatest: number | null }>(
    `WITH gaps AS (
       SELECT shard, loop_gap_us, loop_gap_end_us, loop_gap_end_us - loop_gap_us AS from_us,
         row_number() OVER (PARTITION BY shard ORDER BY loop_gap_end_us) AS nth
       FROM health WHERE run_id = $1 AND loop_gap_us > $2 AND shard >= 0),
     met AS (
       SELECT sent.shard, first_gap.nth AS from_nth, last_gap.nth AS to_nth, count(*) AS requests
       FROM (${sent}) AS sent
         ASOF LEFT JOIN gaps AS first_gap
           ON sent.shard = first_gap.shard AND sent.intended_us < first_gap.loop_gap_end_us
         ASOF LEFT JOIN gaps AS last_gap
           ON sent.shard = last_gap.shard AND sent.closed_us > last_gap.from_us
       GROUP BY ALL)
     SELECT sum(requests)::BIGINT AS requests,
       coalesce(sum(requests) FILTER (from_nth <= to_nth), 0)::BIGINT AS tainted,
       (SELECT max(loop_gap_us) FROM gaps JOIN met USING (shard)
        WHERE nth BETWEEN from_nth AND to_nth) AS greatest
     FROM met`,
    [runId, limitUs],
  )
  const { requests, tainted, greatest } = row!
  return { greatestUs: greatest ?? greatestUs, limitUs, requests, tainted }
}

/** Instants that are compared at most; each is one filter over all rows. */
const mostInstants = 10

/**
 * Requests in flight at some instants of the run: as the senders counted them, and by the time stamps of
 * the rows. Null without a sample.
 */
export async function inFlightFigures(
  store: Store,
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
