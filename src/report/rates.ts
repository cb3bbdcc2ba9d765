import { shareInterval } from '../measure/interval/share.ts'
import { columnOf, measures } from '../measure/measures.ts'
import type { Session } from '../store/session/session.ts'
import { fillTable } from './temp-table.ts'

const percentiles = (['response', 'ttft'] as const).flatMap((name) =>
  ([50, 95, 99] as const).map((p) => ({ name, p, column: `${name}_p${p}` })),
)

/** Null with too few samples. */
const percentileOf = ({ name, p, column }: (typeof percentiles)[number]) => {
  const [value, of] = [columnOf(name), measures[name].of]
  return `CASE WHEN count(${value}) FILTER (${of}) >= getvariable('needs_p${p}')
        THEN quantile_cont(${value}, ${p / 100}) FILTER (${of}) / 1000 END AS ${column}`
}

const drawn = percentiles.map(({ column }) => column).join(', ')

/**
 * Creates `shown_rates`: the load that was offered, and what came of it. A row is a trial of a search, or a phase if there
 * was no search: phase, nth (the order of trials), offered_per_s, missed and judged (of a trial), good_ratio, good_low and
 * good_high (its 95 % interval; null for a side without a bound, and in a search of tasks), failed_ratio, n, response_p50 … ttft_p99 (milliseconds), verdict; and in each row the limit: from_per_s and to_per_s
 * (the highest sustained rate, the lowest that failed), safe_per_s, and the asked_percent of a search. It is empty below three different rates.
 */
const ratesSql = `
CREATE OR REPLACE TEMP TABLE shown_rates AS
WITH
  searches AS (
    SELECT run_id, unnest(from_json(verdict_json::JSON -> '$.sweeps', '[{
      "safeRate": {"kind": "VARCHAR", "heldPerS": "DOUBLE", "safePerS": "DOUBLE", "lowPerS": "DOUBLE", "failedPerS": "DOUBLE"},
      "of": "VARCHAR", "search": {"goodput": "DOUBLE"},
      "trials": [{"runId": "VARCHAR", "phase": "VARCHAR", "step": "VARCHAR", "ratePerS": "DOUBLE", "judged": "DOUBLE", "missed": "DOUBLE", "result": "VARCHAR"}]
    }]')) AS search
    FROM shown_runs
  ),
  trials AS (
    SELECT coalesce(trial.runId, run_id) AS run_id, trial.phase AS phase, trial.ratePerS AS rate_per_s, trial.judged AS judged,
      trial.missed AS missed, trial.result AS result, nth, is_of_requests
    FROM (SELECT run_id, coalesce(search.of, 'requests') = 'requests' AS is_of_requests, unnest(search.trials) AS trial, generate_subscripts(search.trials, 1) AS nth FROM searches)
    WHERE trial.step <> 'warm-up' AND trial.result <> 'void' AND trial.judged > 0
  ),
  -- A single rate is not a curve and gives no rows.
  several AS (
    FROM (SELECT DISTINCT run_id, phase FROM request_kinds SEMI JOIN searched_runs USING (run_id))
    QUALIFY count(*) OVER () >= 3
  ),
  rates AS (
    SELECT run_id, phase,
      (count(*) FILTER (retry = 0) - 1) / nullif((max(intended_us) - min(intended_us)) / 1e6, 0) AS offered_per_s,
      count(*) FILTER (failed) / nullif(count(*) FILTER (was_sent), 0) AS failed_ratio,
      count(*) FILTER (good) / nullif(count(*) FILTER (judged AND good IS NOT NULL), 0) AS good_ratio,
      count(service_us) AS n,
      ${percentiles.map(percentileOf).join(',\n      ')}
    FROM searched_attempts SEMI JOIN several USING (run_id, phase) WHERE counted OR part = 'trial'
    GROUP BY run_id, phase
  ),
  searched AS (
    SELECT phase, rate_per_s AS offered_per_s, nth, missed, judged, 1 - missed / judged AS good_ratio,
      CASE WHEN low IS NOT NULL THEN least(1 - missed / judged, low) END AS good_low,
      CASE WHEN high IS NOT NULL THEN greatest(1 - missed / judged, high) END AS good_high,
      judged AS n, failed_ratio, ${drawn},
      CASE WHEN result = 'held' THEN 'sustained' ELSE 'not sustained' END AS verdict
    FROM trials LEFT JOIN rates USING (run_id, phase)
    LEFT JOIN shown_shares AS shares ON is_of_requests AND shares.run_id = trials.run_id AND shares.phase = trials.phase
  ),
  offered AS (
    SELECT phase, offered_per_s, 1 AS nth, good_ratio, low AS good_low, high AS good_high, failed_ratio, n, ${drawn},
      CASE WHEN coalesce(good_ratio, 1) >= 0.99 AND failed_ratio <= 0.01 THEN 'sustained' ELSE 'not sustained' END AS verdict
    FROM rates LEFT JOIN shown_shares USING (run_id, phase)
    WHERE offered_per_s IS NOT NULL AND n >= 20 AND NOT EXISTS (FROM searched)
  ),
  -- A short trial may succeed by luck where a longer one failed below it; the line leaves it out.
  told AS (
    SELECT * REPLACE (CASE WHEN verdict = 'sustained' AND offered_per_s > (SELECT max(search.safeRate.failedPerS) FROM searches)
      THEN 'sustained briefly' ELSE verdict END AS verdict)
    FROM searched
    UNION ALL BY NAME FROM offered
  ),
  -- The limit: of a search, its answer; else above the highest sustained rate, below the first that was not.
  failing AS (SELECT min(offered_per_s) AS to_per_s FROM offered WHERE verdict = 'not sustained'),
  bracket AS (
    SELECT max(coalesce(search.safeRate.heldPerS, search.safeRate.lowPerS)) AS from_per_s,
      max(search.safeRate.failedPerS) AS to_per_s
    FROM searches HAVING count(*) > 0
    UNION ALL
    SELECT max(offered_per_s), any_value(to_per_s) FROM offered JOIN failing ON offered_per_s < to_per_s
    HAVING NOT EXISTS (FROM searches)
  )
SELECT told.*, from_per_s, to_per_s, (SELECT max(search.safeRate.safePerS) FROM searches) AS safe_per_s,
  (SELECT 100 * any_value(search.search.goodput) FROM searches) AS asked_percent
FROM told LEFT JOIN bracket ON true
WHERE (SELECT count(DISTINCT round(offered_per_s, 1)) FROM told) >= 3`

/** Creates `shown_rates`. `searched_runs` and `searched_attempts` must be there. */
export async function prepareRates(session: Session): Promise<void> {
  await fillShares(session)
  await session.execute(ratesSql)
}

/** Creates `shown_shares` (run_id, phase, low, high): the 95 % interval of the goodput of each phase, of three or more. */
async function fillShares(session: Session): Promise<void> {
  const phases = await session.rows<{ run_id: string; phase: string; goods: string }>(`
    SELECT run_id, phase, string_agg(good::INTEGER, '' ORDER BY intended_us, slot, retry) AS goods
    FROM searched_attempts
    WHERE judged AND good IS NOT NULL AND (counted OR part = 'trial')
      AND (SELECT count(*) FROM (SELECT DISTINCT run_id, phase FROM request_kinds SEMI JOIN searched_runs USING (run_id))) >= 3
    GROUP BY ALL`)
  await fillTable(
    session,
    'shown_shares',
    { run_id: 'VARCHAR', phase: 'VARCHAR', low: 'DOUBLE', high: 'DOUBLE' },
    phases.map(({ goods, ...phase }) => {
      const { low, high } = shareInterval(Uint8Array.from(goods, Number))
      return { ...phase, low, high }
    }),
  )
}
