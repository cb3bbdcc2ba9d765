import type { Contract } from '../contract/contract.ts'
import type { Store } from '../store/open.ts'
import { emptyLedger, type Ledger } from './ledger.ts'
import { creditsSql } from './thresholds.ts'
import type { LagFigures } from './verdict.ts'

/** One step of a run as its rows tell it: exact percentiles, by linear interpolation. */
export interface StepSummary {
  readonly step: string
  readonly endpoint: string
  readonly streamed: boolean
  readonly planned: number
  readonly sent: number
  readonly ok: number
  readonly failures: number
  readonly perS: number
  readonly serviceUs: Quantiles | null
  readonly responseUs: Quantiles | null
  readonly ttftUs: Quantiles | null
  /** Samples behind service and response. */
  readonly samples: number
}

export interface Quantiles {
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly max: number
}

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

/**
 * Each step, its steady part where the run has one. A timeout stands in
 * the percentiles with its deadline.
 */
export async function stepSummaries(store: Store, runId: string): Promise<readonly StepSummary[]> {
  const times = [
    ['service', `coalesce(service_us, closed_us - coalesce(sent_us, dispatched_us))`],
    ['response', `coalesce(response_us, closed_us - intended_us)`],
  ] as const
  const quantiles = [
    ...times.map(([name, sql]) => [name, `CASE WHEN outcome IN ('ok', 'timeout') THEN ${sql} END`]),
    ['ttft', `CASE WHEN outcome = 'ok' AND streamed = 1 THEN ttft_us END`],
  ]
    .map(
      ([name, sql]) =>
        `quantile_cont(${sql}, [0.5, 0.95, 0.99]) AS ${name}, max(${sql}) AS ${name}_max`,
    )
    .join(', ')
  const rows = await store.rows<Record<string, unknown>>(
    `WITH chosen AS (
       SELECT * FROM attempt_times WHERE run_id = $1
         AND (part = 'steady' OR NOT EXISTS (
           SELECT 1 FROM attempts WHERE run_id = $1 AND part = 'steady')))
     SELECT step, any_value(endpoint) AS endpoint, max(streamed) = 1 AS streamed,
       count(*)::BIGINT AS planned,
       count(*) FILTER (outcome <> 'not_sent')::BIGINT AS sent,
       count(*) FILTER (outcome = 'ok')::BIGINT AS ok,
       count(*) FILTER (expects = 'ok' AND outcome NOT IN ('ok', 'not_sent', 'aborted')
         OR expects <> 'ok' AND outcome NOT IN ('http_error', 'not_sent'))::BIGINT AS failures,
       count(*) FILTER (outcome IN ('ok', 'timeout'))::BIGINT AS samples,
       (SELECT (max(coalesce(closed_us, intended_us)) - min(intended_us)) / 1e6 FROM chosen) AS seconds,
       ${quantiles}
     FROM chosen GROUP BY step ORDER BY step`,
    [runId],
  )
  return rows.map((row) => ({
    step: String(row.step),
    endpoint: String(row.endpoint),
    streamed: row.streamed === true,
    planned: Number(row.planned),
    sent: Number(row.sent),
    ok: Number(row.ok),
    failures: Number(row.failures),
    perS: Number(row.seconds) > 0 ? Number(row.sent) / Number(row.seconds) : 0,
    serviceUs: quantilesOf(row.service, row.service_max),
    responseUs: quantilesOf(row.response, row.response_max),
    ttftUs: quantilesOf(row.ttft, row.ttft_max),
    samples: Number(row.samples),
  }))
}

function quantilesOf(list: unknown, max: unknown): Quantiles | null {
  if (!Array.isArray(list) || max === null) return null
  const [p50, p95, p99] = list.map(Number) as [number, number, number]
  return { p50, p95, p99, max: Number(max) }
}

export interface RunFigures {
  readonly lag: LagFigures | null
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
    `WITH lags AS (
       SELECT quantile_cont(lag_us, [0.5, 0.9, 0.99]) AS lag, count(lag_us)::BIGINT AS n
       FROM attempt_times WHERE run_id = $1
         AND (part = 'steady' OR NOT EXISTS (
           SELECT 1 FROM attempts WHERE run_id = $1 AND part = 'steady')))
     SELECT any_value(lags.lag) AS lag, any_value(lags.n) AS lag_n,
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
    medianResponseUs: row?.median ?? null,
    flightSeconds: row?.flight ?? 0,
    creditsByContract: row?.credits ?? 0,
    events: row?.events ?? 0,
    lastUs: row?.last ?? 0,
  }
}

type Figures = Readonly<
  Record<'median' | 'flight' | 'credits' | 'events' | 'last', number | null>
> & {
  readonly lag: readonly number[] | null
  readonly lag_n: number | null
}

function lagOf(row: Figures | undefined): LagFigures | null {
  if (!Array.isArray(row?.lag) || !row.lag_n) return null
  const [p50Us, p90Us, p99Us] = row.lag as [number, number, number]
  return { p50Us, p90Us, p99Us, samples: row.lag_n }
}
