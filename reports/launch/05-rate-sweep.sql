-- section: Load
-- wide: true
-- optional: true
-- note: >-
--   One point for each offered rate. A search decides by its own trials, holds last, whether a rate held, and the shaded
--   bracket is between the rate of its answer and the lowest that failed: the same answer as in the verdict. Without a
--   search, a rate held if goodput was at least 99 % and at most 1 % failed unexpectedly.
WITH
  -- A rate that was tried again is one point, with the result of its last trial.
  told AS (
    SELECT max_by(phase, nth) AS phase, offered_per_s, coalesce(1 - sum(missed) / sum(judged), max_by(good_ratio, nth)) AS goodput,
      max_by(failed_ratio, nth) AS "failed", max_by(response_p50, nth) AS p50, max_by(response_p95, nth) AS p95,
      sum(n) AS n, max_by(verdict, nth) AS verdict, any_value(from_per_s) AS from_per_s, any_value(to_per_s) AS to_per_s
    FROM shown_rates GROUP BY offered_per_s
  )
SELECT phase, round(offered_per_s, 2) AS offered_per_s, what, 100 * share AS share, p50, p95, n, verdict,
  CASE WHEN row_number() OVER (ORDER BY offered_per_s, what) = 1 AND to_per_s IS NOT NULL THEN from_per_s END AS from_per_s,
  to_per_s
FROM told UNPIVOT (share FOR what IN (goodput, "failed"))
ORDER BY offered_per_s, what
