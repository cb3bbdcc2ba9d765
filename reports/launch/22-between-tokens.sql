-- section: Tokens
-- note: Median and 95th percentile of each interval of time; an interval with fewer than 11 streams is left out.
SELECT at_s, statistic, tpot_ms, n
FROM (
  SELECT floor(at_s / getvariable('coarse_s')) * getvariable('coarse_s') AS at_s,
    quantile_cont(tpot_us, 0.5) / 1000 AS p50,
    quantile_cont(tpot_us, 0.95) / 1000 AS p95,
    count(*) AS n
  FROM shown_latency
  WHERE outcome = 'ok' AND streamed = 1 AND tpot_us IS NOT NULL
  GROUP BY 1
  HAVING count(*) >= 11
) UNPIVOT (tpot_ms FOR statistic IN (p50, p95))
ORDER BY at_s, statistic
