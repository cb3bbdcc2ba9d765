-- section: Capacity
-- wide: true
-- optional: true
-- note: >-
--   One point for each offered rate. A search decides by its own trials, holds last, whether a rate held, and the shaded
--   bracket is between the rate of its answer and the lowest that failed: the same answer as in the verdict. Without a
--   search, a rate held if goodput was at least 99 % and at most 1 % failed unexpectedly.
WITH
  searches AS (
    SELECT run_id, unnest(from_json(verdict_json::JSON -> '$.sweeps', '[{
      "safeRate": {"kind": "VARCHAR", "heldPerS": "DOUBLE", "lowPerS": "DOUBLE", "failedPerS": "DOUBLE"},
      "trials": [{"phase": "VARCHAR", "step": "VARCHAR", "ratePerS": "DOUBLE", "judged": "DOUBLE", "missed": "DOUBLE", "result": "VARCHAR"}]
    }]')) AS search
    FROM shown_runs
  ),
  trials AS (
    SELECT run_id, trial.phase AS phase, trial.ratePerS AS rate_per_s, trial.judged AS judged,
      trial.missed AS missed, trial.result AS result, nth
    FROM (SELECT run_id, unnest(search.trials) AS trial, generate_subscripts(search.trials, 1) AS nth FROM searches)
    WHERE trial.step <> 'warm-up' AND trial.result <> 'void' AND trial.judged > 0
  ),
  -- A single rate is not a curve and gives no rows.
  several AS (
    FROM (SELECT DISTINCT run_id, phase FROM request_kinds SEMI JOIN shown_runs USING (run_id))
    QUALIFY count(*) OVER () >= 3
  ),
  rates AS (
    SELECT run_id, phase,
      (count(*) FILTER (retry = 0) - 1) / nullif((max(intended_us) - min(intended_us)) / 1e6, 0) AS offered_per_s,
      count(*) FILTER (failed) / nullif(count(*) FILTER (was_sent), 0) AS failed_ratio,
      count(*) FILTER (good) / nullif(count(*) FILTER (judged AND good IS NOT NULL), 0) AS good_ratio,
      count(service_us) AS n,
      CASE WHEN count(response_us) >= getvariable('needs_p50') THEN quantile_cont(response_us, 0.5) / 1000 END AS p50,
      CASE WHEN count(response_us) >= getvariable('needs_p95') THEN quantile_cont(response_us, 0.95) / 1000 END AS p95
    FROM shown_attempts SEMI JOIN several USING (run_id, phase) WHERE counted OR part = 'trial'
    GROUP BY run_id, phase
  ),
  -- A rate that was tried again is one point, with the result of its last trial.
  searched AS (
    SELECT max_by(phase, nth) AS phase, rate_per_s AS offered_per_s,
      1 - sum(missed) / sum(judged) AS good_ratio, max_by(failed_ratio, nth) AS failed_ratio,
      max_by(p50, nth) AS p50, max_by(p95, nth) AS p95, sum(judged) AS n,
      CASE WHEN max_by(result, nth) = 'held' THEN 'held' ELSE 'did not hold' END AS verdict
    FROM trials LEFT JOIN rates USING (run_id, phase)
    GROUP BY rate_per_s
  ),
  offered AS (
    SELECT phase, offered_per_s, good_ratio, failed_ratio, p50, p95, n,
      CASE WHEN coalesce(good_ratio, 1) >= 0.99 AND failed_ratio <= 0.01 THEN 'held' ELSE 'did not hold' END AS verdict
    FROM rates WHERE offered_per_s IS NOT NULL AND n >= 20 AND NOT EXISTS (FROM searched)
  ),
  -- A short trial may hold by luck where a longer one failed below it; the line leaves it out.
  told AS (
    SELECT * REPLACE (CASE WHEN verdict = 'held' AND offered_per_s > (SELECT max(search.safeRate.failedPerS) FROM searches)
      THEN 'held briefly' ELSE verdict END AS verdict)
    FROM searched
    UNION ALL BY NAME FROM offered
  ),
  -- The limit: of a search, its answer; else above the highest rate that held, below the first that did not.
  failing AS (SELECT min(offered_per_s) AS to_per_s FROM offered WHERE verdict = 'did not hold'),
  bracket AS (
    SELECT max(coalesce(search.safeRate.heldPerS, search.safeRate.lowPerS)) AS from_per_s,
      max(search.safeRate.failedPerS) AS to_per_s
    FROM searches HAVING count(*) > 0
    UNION ALL
    SELECT max(offered_per_s), any_value(to_per_s) FROM offered JOIN failing ON offered_per_s < to_per_s
    HAVING NOT EXISTS (FROM searches)
  )
SELECT phase, round(offered_per_s, 2) AS offered_per_s, what, 100 * share AS share, p50, p95, n, verdict,
  CASE WHEN row_number() OVER (ORDER BY offered_per_s, what) = 1 AND to_per_s IS NOT NULL THEN from_per_s END AS from_per_s,
  to_per_s
FROM (SELECT *, good_ratio AS goodput, failed_ratio AS "failed" FROM told)
  UNPIVOT (share FOR what IN (goodput, "failed")), bracket
WHERE (SELECT count(DISTINCT round(offered_per_s, 1)) FROM told) >= 3
ORDER BY offered_per_s, what
