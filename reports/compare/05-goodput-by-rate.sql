-- section: Searches
-- wide: true
-- optional: true
-- note: >-
--   A dot is a trial of a search: the share of its requests within the objective, with its 95 % interval. A vertical line is
--   the confirmed rate. A trial that was sustained briefly is above a rate that failed.
SELECT side AS run, per_s, 100 * goodput AS goodput, CASE WHEN coalesce(low, high) IS NOT NULL THEN 100 * coalesce(low, 0) END AS low,
  CASE WHEN coalesce(low, high) IS NOT NULL THEN 100 * coalesce(high, 1) END AS high, verdict,
  CASE WHEN row_number() OVER (PARTITION BY side ORDER BY per_s) = 1 THEN sustained_per_s END AS sustained_per_s
FROM searched ORDER BY side, per_s
