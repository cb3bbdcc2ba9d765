-- section: Latency
-- note: >-
--   Every percentile up to the last that has enough samples. If the two lines differ, requests waited before
--   they were sent, or the service stalled while the plan went on.
WITH
  clocks AS MATERIALIZED (
    SELECT quantile_cont(service_us, getvariable('curve_quantiles')) AS service,
      quantile_cont(response_us, getvariable('curve_quantiles')) AS response
    FROM shown_latency
  ),
  curves AS (
    SELECT 'service time' AS clock, service AS latencies FROM clocks
    UNION ALL
    SELECT 'response time', response FROM clocks
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
