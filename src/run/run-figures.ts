import type { Contract } from '../contract/contract.ts'
import type { Store } from '../store/open.ts'
import { emptyLedger, type Ledger } from './ledger.ts'
import { creditsSql } from './thresholds.ts'
import type { LagFigures } from './verdict.ts'

/** Counts of attempts as the store has them. */
export async function rowLedger(store: Store, runId: string): Promise<Ledger> {
  const rows = await store.rows<{ outcome: string; n: number }>(
    'SELECT outcome, count(*)::BIGINT AS n FROM attempts WHERE run_id = $1 GROUP BY outcome',
    [runId],
  )
  const count = (outcome: string) => rows.find((row) => row.outcome === outcome)?.n ?? 0
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

export interface RunFigures {
  readonly lag: LagFigures | null
  /** Answers and timeouts of the step that has the fewest; null when there are none. */
  readonly fewestSamples: number | null
  readonly medianResponseUs: number | null
  /** Sum of time in flight over all rows, in request-seconds. */
  readonly flightSeconds: number
  readonly creditsByContract: number
  /** Events of streams that were read. */
  readonly events: number
  readonly lastUs: number
}

/** Figures over the whole run that its own verdict needs. */
export async function runFigures(
  store: Store,
  runId: string,
  contract: Contract,
): Promise<RunFigures> {
  const [row] = await store.rows<Figures>(
    `WITH chosen AS (
       SELECT step, lag_us, outcome FROM attempt_times WHERE run_id = $1
         AND (part = 'steady' OR NOT EXISTS (
           SELECT 1 FROM attempts WHERE run_id = $1 AND part = 'steady'))),
     lags AS (
       SELECT quantile_cont(lag_us, [0.5, 0.9, 0.99]) AS lag, count(lag_us)::BIGINT AS n FROM chosen),
     samples AS (
       SELECT count(*)::BIGINT AS n FROM chosen WHERE outcome IN ('ok', 'timeout') GROUP BY step)
     SELECT (SELECT min(n) FROM samples) AS fewest, any_value(lags.lag) AS lag, any_value(lags.n) AS lag_n,
       quantile_cont(CASE WHEN outcome = 'ok' THEN response_us END, 0.5) AS median,
       coalesce(sum((closed_us - dispatched_us) / 1e6), 0)::DOUBLE AS flight,
       coalesce(sum(${creditsSql(contract)}), 0)::DOUBLE AS credits,
       coalesce(sum(events), 0)::DOUBLE AS events,
       coalesce(max(coalesce(closed_us, intended_us)), 0)::BIGINT AS last
     FROM attempt_times, lags WHERE run_id = $1`,
    [runId],
  )
  return {
    lag: lagOf(row),
    fewestSamples: row?.fewest ?? null,
    medianResponseUs: row?.median ?? null,
    flightSeconds: row?.flight ?? 0,
    creditsByContract: row?.credits ?? 0,
    events: row?.events ?? 0,
    lastUs: row?.last ?? 0,
  }
}

type Figures = Readonly<
  Record<'fewest' | 'median' | 'flight' | 'credits' | 'events' | 'last', number | null>
> & {
  readonly lag: readonly number[] | null
  readonly lag_n: number | null
}

function lagOf(row: Figures | undefined): LagFigures | null {
  if (!Array.isArray(row?.lag) || !row.lag_n) return null
  const [p50Us, p90Us, p99Us] = row.lag as [number, number, number]
  return { p50Us, p90Us, p99Us, samples: row.lag_n }
}
