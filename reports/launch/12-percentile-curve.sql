-- section: Latency
-- wide: true
-- note: >-
--   Every percentile up to the last that the samples carry. Where the two lines part, requests
--   waited before they were sent, or the service stalled while the plan went on.
WITH curves AS (
  SELECT 'service time' AS clock, quantile_cont(service_us, getvariable('curve_quantiles')) AS latencies
  FROM shown_latency
  UNION ALL
  SELECT 'response time', quantile_cont(response_us, getvariable('curve_quantiles')) FROM shown_latency
)
SELECT
  clock,
  1 / (1 - quantile) AS one_in,
  round(100 * quantile, 4) AS percentile,
  round(latency / 1000, 3) AS latency_ms
FROM (
  SELECT clock, unnest(getvariable('curve_quantiles')) AS quantile, unnest(latencies) AS latency FROM curves
)
WHERE latency IS NOT NULL
ORDER BY clock, one_in
