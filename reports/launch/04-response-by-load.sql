-- section: First screen
-- optional: true
-- note: >-
--   A dot is a trial, or a phase without a search. Answers that succeeded or timed out; a percentile with too few
--   samples is not drawn. The load is what the plan offered.
SELECT row_number() OVER (ORDER BY offered_per_s, nth, statistic) = 1 AS first, phase, round(offered_per_s, 2) AS offered_per_s,
  statistic[10:] AS statistic, ms, n, verdict, safe_per_s,
  (SELECT min("responseUs") / 1000 FROM shown_runs) AS objective_ms
FROM shown_rates UNPIVOT (ms FOR statistic IN (response_p50, response_p95, response_p99))
ORDER BY offered_per_s, nth, statistic
