import { type Contract, pricesOf } from '../../contract/contract.ts'
import { creditsSql } from '../../measure/credits.ts'
import type { Session } from '../../store/session/session.ts'
import { largest, smallest } from '../../user/extremes.ts'
import type { LagFigures } from '../judge/client-tests.ts'
import { type AttemptCounts, noCounts } from './attempt-counts.ts'

export interface RunFigures {
  /** Counts of attempts in the store. */
  readonly rows: AttemptCounts
  readonly lag: LagFigures | null
  /** Successes and timeouts of the step with the fewest; null without any. */
  readonly fewestSamples: number | null
  readonly creditsByContract: number
  /** Planned requests per second of the busiest steady phase; null if none has enough for a rate. */
  readonly busiestPerS: number | null
  /** Events of streams that this phase read per second; null likewise. */
  readonly busiestEventsPerS: number | null
  readonly lastUs: number
}

/** Figures of the whole run for its verdict. Lag and samples cover the steady phases, if any. */
export async function runFigures(
  session: Session,
  runId: string,
  contract: Contract,
): Promise<RunFigures> {
  // A run has millions of rows but few groups, so words are joined to the counts, not to the rows.
  const groups = await session.rows<Group>(
    `SELECT phase, part, step, outcome, sum(n)::BIGINT AS n, sum(lag_n)::BIGINT AS lag_n,
       min(first_us) AS first_us, max(last_us) AS last_us, max(end_us) AS end_us,
       sum(events) AS events,
       sum(n * (${creditsSql(pricesOf(contract))}))::DOUBLE AS credits
     FROM (SELECT request_kind, ending, count(*) AS n, count(dispatched_us) AS lag_n,
             min(intended_us) AS first_us, max(intended_us) AS last_us,
             max(coalesce(closed_us, intended_us)) AS end_us,
             sum(events)::DOUBLE AS events
           FROM all_rows WHERE request_kind IN (SELECT request_kind FROM request_kinds WHERE run_id = $1)
           GROUP BY request_kind, ending)
     JOIN request_kinds USING (request_kind) JOIN endings USING (ending)
     GROUP BY phase, part, step, outcome`,
    [runId],
  )
  const steady = groups.filter(({ part }) => part === 'steady')
  const chosen = steady.length > 0 ? steady : groups
  const [row] = await session.rows<Quantiles>(
    `SELECT quantile_cont(lag_us, [0.5, 0.9, 0.99]) AS lag
     FROM attempt_times WHERE run_id = $1 ${steady.length > 0 ? `AND part = 'steady'` : ''}`,
    [runId],
  )
  return {
    rows: countsOf(groups),
    lag: lagOf(row, sumOf(chosen, 'lag_n')),
    fewestSamples: fewestOf(chosen),
    creditsByContract: sumOf(groups, 'credits'),
    ...busiestOf(steady),
    lastUs: largest(
      groups.map(({ end_us }) => end_us),
      0,
    ),
  }
}

/** Attempts with the same phase, part, step and outcome. */
interface Group {
  readonly phase: string
  readonly part: string
  readonly step: string
  readonly outcome: string
  readonly n: number
  readonly first_us: number
  readonly last_us: number
  readonly credits: number
  /** Attempts that were sent. */
  readonly lag_n: number
  readonly end_us: number
  readonly events: number
}

interface Quantiles {
  readonly lag: readonly number[] | null
}

const sumOf = (groups: readonly Group[], figure: 'n' | 'lag_n' | 'credits' | 'events') =>
  groups.reduce((sum, group) => sum + group[figure], 0)

/** Requests that a rate needs. */
const enoughForRate = 100

type Rates = Pick<RunFigures, 'busiestPerS' | 'busiestEventsPerS'>

/** Of phases that are as busy, the one that reads more events. */
function busiestOf(steady: readonly Group[]): Rates {
  const phases = [...Map.groupBy(steady, ({ phase }) => phase).values()].flatMap((groups) => {
    const n = sumOf(groups, 'n')
    const first = smallest(groups.map((group) => group.first_us))
    const last = largest(groups.map((group) => group.last_us))
    if (n < enoughForRate || last <= first) return []
    const perS = ((n - 1) / (last - first)) * 1e6
    // Streams end after the last send, so events are counted by request.
    return [{ perS, eventsPerS: (perS * sumOf(groups, 'events')) / n }]
  })
  const [busiest] = phases.sort((a, b) => b.perS - a.perS || b.eventsPerS - a.eventsPerS)
  return {
    busiestPerS: busiest?.perS ?? null,
    busiestEventsPerS: busiest?.eventsPerS ?? null,
  }
}

function countsOf(groups: readonly Group[]): AttemptCounts {
  const count = (outcome: string) =>
    groups.reduce((sum, group) => sum + (group.outcome === outcome ? group.n : 0), 0)
  const counts = {
    ...noCounts,
    notSent: count('not_sent'),
    ok: count('ok'),
    httpError: count('http_error'),
    broken: count('broken'),
    timeout: count('timeout'),
    aborted: count('aborted'),
  }
  const sent = counts.ok + counts.httpError + counts.broken + counts.timeout + counts.aborted
  return { ...counts, sent, planned: sent + counts.notSent }
}

function fewestOf(groups: readonly Group[]): number | null {
  const samples = new Map<string, number>()
  for (const { step, outcome, n } of groups) {
    if (outcome === 'ok' || outcome === 'timeout') samples.set(step, (samples.get(step) ?? 0) + n)
  }
  return samples.size === 0 ? null : smallest(samples.values())
}

function lagOf(row: Quantiles | undefined, samples: number): LagFigures | null {
  if (!Array.isArray(row?.lag)) return null
  const [p50Us, p90Us, p99Us] = row.lag as [number, number, number]
  return { p50Us, p90Us, p99Us, samples }
}
