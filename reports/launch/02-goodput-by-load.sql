-- section: First screen
-- optional: true
-- note: >-
--   A dot is a trial, or a phase without a search: the share of its requests within the objective, with its 95 % interval. A
--   search decides by its own trials, confirmations last, whether a rate was sustained. Its limit lies in the shaded bracket, between the rate of
--   its answer and the lowest that failed. Without a search, a rate was sustained if goodput was at least 99 % and at most 1 % failed
--   unexpectedly.
WITH
  -- A rate that was tried again is one point, with the result of its last trial.
  told AS (
    SELECT max_by(phase, nth) AS phase, offered_per_s, coalesce(1 - sum(missed) / sum(judged), max_by(good_ratio, nth)) AS goodput,
      max_by(failed_ratio, nth) AS "failed", max_by(good_low, nth) AS low, max_by(good_high, nth) AS high,
      max_by(response_p50, nth) AS p50, max_by(response_p95, nth) AS p95,
      sum(n) AS n, max_by(verdict, nth) AS verdict, any_value(from_per_s) AS from_per_s, any_value(to_per_s) AS to_per_s,
      any_value(asked_percent) AS asked_percent, any_value(safe_per_s) AS safe_per_s
    FROM shown_rates GROUP BY offered_per_s
  ),
  bounded AS (
    SELECT * REPLACE (
      CASE WHEN coalesce(low, high) IS NOT NULL THEN least(coalesce(low, 0), goodput) END AS low,
      CASE WHEN coalesce(low, high) IS NOT NULL THEN greatest(coalesce(high, 1), goodput) END AS high)
    FROM told
  )
SELECT row_number() OVER (ORDER BY offered_per_s, what DESC) = 1 AS first, phase, round(offered_per_s, 2) AS offered_per_s, what,
  100 * share AS share, CASE WHEN what = 'good' THEN 100 * low END AS low,
  CASE WHEN what = 'good' THEN 100 * high END AS high, p50, p95, n, verdict, asked_percent, safe_per_s,
  CASE WHEN row_number() OVER (ORDER BY offered_per_s, what DESC) = 1 AND to_per_s IS NOT NULL THEN from_per_s END AS from_per_s,
  to_per_s
FROM (SELECT * RENAME (goodput AS good) FROM bounded)
  UNPIVOT (share FOR what IN (good, "failed"))
ORDER BY offered_per_s, what DESC
