import type { Contract } from '../contract/contract.ts'
import type { Store } from '../store/open.ts'
import { emptyLedger, type Ledger } from './ledger.ts'
import { creditsSql } from './thresholds.ts'
import type { LagFigures } from './verdict.ts'

export interface RunFigures {
  /** Counts of attempts as the store has them. */
  readonly rows: Ledger
  readonly lag: LagFigures | null
  /** Answers and timeouts of the step that has the fewest; null when there are none. */
  readonly fewestSamples: number | null
  readonly medianResponseUs: number | null
  /** Sum of time in flight over all rows, in request-seconds. */
  readonly flightSeconds: number
  readonly creditsByContract: number
  /** Requests a second that the busiest steady phase had to send. */
  readonly busiestPerS: number
  /** Events of streams that were read. */
  readonly events: number
  readonly lastUs: number
}

/** Figures over the whole run that its own verdict needs. Lag and samples are of steady phases, if any. */
export async function runFigures(
  store: Store,
  runId: string,
  contract: Contract,
): Promise<RunFigures> {
  // A run has millions of rows and a handful of these, so that the other query can be one scan.
  const groups = await store.rows<Group>(
    `SELECT phase, part, step, outcome, n, first_us, last_us, (n * (${creditsSql(contract)}))::DOUBLE AS credits
     FROM (SELECT phase, part, step, outcome, endpoint, model, count(*)::BIGINT AS n,
             min(intended_us) AS first_us, max(intended_us) AS last_us
           FROM attempts WHERE run_id = $1 GROUP BY ALL)`,
    [runId],
  )
  const steady = groups.filter(({ part }) => part === 'steady')
  const chosen = steady.length > 0 ? `FILTER (part = 'steady')` : ''
  const [row] = await store.rows<Figures>(
    `SELECT quantile_cont(lag_us, [0.5, 0.9, 0.99]) ${chosen} AS lag,
       count(lag_us) ${chosen}::BIGINT AS lag_n,
       quantile_cont(response_us, 0.5) FILTER (outcome = 'ok') AS median,
       sum((closed_us - dispatched_us) / 1e6)::DOUBLE AS flight,
       sum(events)::DOUBLE AS events,
       max(coalesce(closed_us, intended_us))::BIGINT AS last
     FROM attempt_times WHERE run_id = $1`,
    [runId],
  )
  return {
    rows: ledgerOf(groups),
    lag: lagOf(row),
    fewestSamples: fewestOf(steady.length > 0 ? steady : groups),
    medianResponseUs: row?.median ?? null,
    flightSeconds: row?.flight ?? 0,
    creditsByContract: groups.reduce((sum, { credits }) => sum + credits, 0),
    busiestPerS: busiestOf(steady),
    events: row?.events ?? 0,
    lastUs: row?.last ?? 0,
  }
}

/** Attempts that are alike in these. */
interface Group {
  readonly phase: string
  readonly part: string
  readonly step: string
  readonly outcome: string
  readonly n: number
  readonly first_us: number
  readonly last_us: number
  readonly credits: number
}

type Figures = Readonly<
  Record<'median' | 'flight' | 'events' | 'last' | 'lag_n', number | null>
> & { readonly lag: readonly number[] | null }

/** Fewer requests are a moment and no load. */
const enoughForRate = 100

function busiestOf(steady: readonly Group[]): number {
  const rates = [...Map.groupBy(steady, ({ phase }) => phase).values()].map((groups) => {
    const n = groups.reduce((sum, group) => sum + group.n, 0)
    const first = Math.min(...groups.map((group) => group.first_us))
    const last = Math.max(...groups.map((group) => group.last_us))
    return n < enoughForRate || last <= first ? 0 : ((n - 1) / (last - first)) * 1e6
  })
  return Math.max(0, ...rates)
}

function ledgerOf(groups: readonly Group[]): Ledger {
  const count = (outcome: string) =>
    groups.reduce((sum, group) => sum + (group.outcome === outcome ? group.n : 0), 0)
  const ledger = {
    ...emptyLedger,
    notSent: count('not_sent'),
    ok: count('ok'),
    httpError: count('http_error'),
    broken: count('broken'),
    timeout: count('timeout'),
    aborted: count('aborted'),
  }
  const sent = ledger.ok + ledger.httpError + ledger.broken + ledger.timeout + ledger.aborted
  return { ...ledger, sent, planned: sent + ledger.notSent }
}

function fewestOf(groups: readonly Group[]): number | null {
  const samples = new Map<string, number>()
  for (const { step, outcome, n } of groups) {
    if (outcome === 'ok' || outcome === 'timeout') samples.set(step, (samples.get(step) ?? 0) + n)
  }
  return samples.size === 0 ? null : Math.min(...samples.values())
}

function lagOf(row: Figures | undefined): LagFigures | null {
  if (!Array.isArray(row?.lag) || !row.lag_n) return null
  const [p50Us, p90Us, p99Us] = row.lag as [number, number, number]
  return { p50Us, p90Us, p99Us, samples: row.lag_n }
}
