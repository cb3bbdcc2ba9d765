-- optional: true
-- section: Tokens
-- note: >-
--   Median and 95th percentile of each interval of time, of streams whose tokens the service reported.
--   Each is left out where its samples are too few.
WITH
  streams AS (
    SELECT tpot_us / 1000 AS ms,
      floor(at_s / getvariable('coarse_p50_s')) * getvariable('coarse_p50_s') AS p50_s,
      floor(at_s / getvariable('coarse_p95_s')) * getvariable('coarse_p95_s') AS p95_s
    FROM shown_latency WHERE tpot_us IS NOT NULL
  ),
  intervals AS (
    SELECT p50_s, p95_s, quantile_cont(ms, [0.5, 0.95]) AS told, count(*) AS n
    FROM streams GROUP BY GROUPING SETS ((p50_s), (p95_s))
  )
SELECT coalesce(p50_s, p95_s) AS at_s, CASE WHEN p95_s IS NULL THEN 'p50' ELSE 'p95' END AS statistic,
  told[CASE WHEN p95_s IS NULL THEN 1 ELSE 2 END] AS tpot_ms, n
FROM intervals
WHERE n >= CASE WHEN p95_s IS NULL THEN getvariable('needs_p50') ELSE getvariable('needs_p95') END
ORDER BY at_s, statistic
