-- title: Latency by step
-- section: Latency
-- note: >-
--   Service time begins when the socket carries the request, response time when the plan wanted it
--   sent, so waiting in this client's own queues is in it. Exact percentiles from rows (R-7). Only
--   successes and timeouts outside the warm-up; a timeout counts as at least
--   its deadline, and a percentile that reaches it reads ≥.
-- empty: No request outside the warm-up succeeded or timed out, so there is no latency to tell.
-- columns:
--   response_cut_ms: { hidden: true }
--   service_cut_ms: { hidden: true }
--   n: { label: n }
--   service_p50_ms: { label: p50, group: Service time, at_least: service_cut_ms, needs: [11, n] }
--   service_p90_ms: { label: p90, group: Service time, at_least: service_cut_ms, needs: [64, n] }
--   service_p95_ms: { label: p95, group: Service time, at_least: service_cut_ms, needs: [130, n] }
--   service_p99_ms: { label: p99, group: Service time, at_least: service_cut_ms, needs: [662, n] }
--   service_p999_ms: { label: p99.9, group: Service time, at_least: service_cut_ms, needs: [6636, n] }
--   response_p50_ms: { label: p50, group: Response time, at_least: response_cut_ms, needs: [11, n] }
--   response_p90_ms: { label: p90, group: Response time, at_least: response_cut_ms, needs: [64, n] }
--   response_p95_ms: { label: p95, group: Response time, at_least: response_cut_ms, needs: [130, n] }
--   response_p99_ms: { label: p99, group: Response time, at_least: response_cut_ms, needs: [662, n] }
--   response_p999_ms: { label: p99.9, group: Response time, at_least: response_cut_ms, needs: [6636, n] }
SELECT
  CASE WHEN grouping(step) = 1 THEN 'all steps' ELSE step END AS step,
  count(*) AS n,
  min(service_us) FILTER (outcome = 'timeout') / 1000 AS service_cut_ms,
  min(response_us) FILTER (outcome = 'timeout') / 1000 AS response_cut_ms,
  quantile_cont(service_us, 0.5) / 1000 AS service_p50_ms,
  quantile_cont(service_us, 0.9) / 1000 AS service_p90_ms,
  quantile_cont(service_us, 0.95) / 1000 AS service_p95_ms,
  quantile_cont(service_us, 0.99) / 1000 AS service_p99_ms,
  quantile_cont(service_us, 0.999) / 1000 AS service_p999_ms,
  quantile_cont(response_us, 0.5) / 1000 AS response_p50_ms,
  quantile_cont(response_us, 0.9) / 1000 AS response_p90_ms,
  quantile_cont(response_us, 0.95) / 1000 AS response_p95_ms,
  quantile_cont(response_us, 0.99) / 1000 AS response_p99_ms,
  quantile_cont(response_us, 0.999) / 1000 AS response_p999_ms
FROM shown_latency
GROUP BY GROUPING SETS ((step), ())
HAVING count(*) > 0
ORDER BY grouping(step), step
