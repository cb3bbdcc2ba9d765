-- section: Capacity
-- wide: true
-- optional: true
-- note: >-
--   One point for each offered rate. A sweep decides by its objective whether a rate held; without a sweep, a
--   rate held if goodput was at least 99 % and at most 1 % failed unexpectedly. The safe rate is the highest
--   that held below the first that did not; the limit is in the shaded bracket above it.
WITH
  -- A single rate is not a curve and gives no rows.
  several AS (FROM (SELECT DISTINCT run_id, phase FROM request_kinds SEMI JOIN shown_runs USING (run_id)) QUALIFY count(*) OVER () >= 3),
  rates AS (
    SELECT run_id, phase,
      (count(*) FILTER (retry = 0) - 1) / nullif((max(intended_us) - min(intended_us)) / 1e6, 0) AS offered_per_s,
      count(*) FILTER (failed) / nullif(count(*) FILTER (was_sent), 0) AS failed_ratio,
      count(*) FILTER (good) / nullif(count(*) FILTER (judged AND good IS NOT NULL), 0) AS good_ratio,
      count(service_us) AS n,
      CASE WHEN count(response_us) >= getvariable('needs_p50') THEN quantile_cont(response_us, 0.5) / 1000 END AS p50,
      CASE WHEN count(response_us) >= getvariable('needs_p95') THEN quantile_cont(response_us, 0.95) / 1000 END AS p95
    FROM shown_attempts SEMI JOIN several USING (run_id, phase) WHERE counted
    GROUP BY run_id, phase HAVING count(*) >= 20
  ),
  trials AS (
    SELECT run_id, trial.phase AS phase, trial.ratePerS AS rate_per_s, trial.held AS held
    FROM (
      SELECT run_id, unnest(flatten(from_json(verdict_json::JSON -> '$.sweeps[*].trials',
        '[[{"phase":"VARCHAR","ratePerS":"DOUBLE","held":"BOOLEAN"}]]'))) AS trial
      FROM shown_runs
    )
  ),
  told AS (
    SELECT * EXCLUDE (offered_per_s, rate_per_s, held), coalesce(rate_per_s, offered_per_s) AS offered_per_s,
      CASE WHEN coalesce(held, coalesce(good_ratio, 1) >= 0.99 AND failed_ratio <= 0.01)
           THEN 'held' ELSE 'did not hold' END AS verdict
    FROM rates LEFT JOIN trials USING (run_id, phase)
    WHERE offered_per_s IS NOT NULL
  ),
  -- The limit: above the highest rate that held, below the first that did not.
  failing AS (SELECT min(offered_per_s) AS to_per_s FROM told WHERE verdict = 'did not hold'),
  bracket AS (
    SELECT max(offered_per_s) AS from_per_s, any_value(to_per_s) AS to_per_s
    FROM told JOIN failing ON offered_per_s < to_per_s
  )
SELECT phase, round(offered_per_s, 2) AS offered_per_s, what, 100 * share AS share, p50, p95, n, verdict,
  CASE WHEN row_number() OVER (ORDER BY offered_per_s, what) = 1 THEN from_per_s END AS from_per_s, to_per_s
FROM (SELECT *, good_ratio AS goodput, failed_ratio AS "failed" FROM told)
  UNPIVOT (share FOR what IN (goodput, "failed")), bracket
WHERE (SELECT count(DISTINCT round(offered_per_s, 1)) FROM told) >= 3
ORDER BY offered_per_s, what
