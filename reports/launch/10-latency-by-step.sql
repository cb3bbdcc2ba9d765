-- title: Latency by step
-- section: Latency
-- note: >-
--   Service time begins when the request is on the socket. Response time begins when the plan wanted it sent, so
--   it includes waiting in this client's own queues. Exact percentiles from rows (R-7). Only successes and
--   timeouts of the steady part; a timeout counts as at least its deadline, and a percentile that reaches it is
--   shown with ≥.
-- empty: No request of the steady part succeeded or timed out, so there is no latency.
-- columns:
--   response_cut_ms: { hidden: true }
--   service_cut_ms: { hidden: true }
--   n: { label: n }
--   service_p50_ms: { label: p50, group: Service time, at_least: service_cut_ms, needs: [p50, n] }
--   service_p90_ms: { label: p90, group: Service time, at_least: service_cut_ms, needs: [p90, n] }
--   service_p95_ms: { label: p95, group: Service time, at_least: service_cut_ms, needs: [p95, n] }
--   service_p99_ms: { label: p99, group: Service time, at_least: service_cut_ms, needs: [p99, n] }
--   service_p999_ms: { label: p99.9, group: Service time, at_least: service_cut_ms, needs: [p99.9, n] }
--   response_p50_ms: { label: p50, group: Response time, at_least: response_cut_ms, needs: [p50, n] }
--   response_p90_ms: { label: p90, group: Response time, at_least: response_cut_ms, needs: [p90, n] }
--   response_p95_ms: { label: p95, group: Response time, at_least: response_cut_ms, needs: [p95, n] }
--   response_p99_ms: { label: p99, group: Response time, at_least: response_cut_ms, needs: [p99, n] }
--   response_p999_ms: { label: p99.9, group: Response time, at_least: response_cut_ms, needs: [p99.9, n] }
SELECT
  coalesce(service.step, 'all steps') AS step, service.n,
  service.cut_ms AS service_cut_ms, response.cut_ms AS response_cut_ms,
  service.p50_ms AS service_p50_ms, service.p90_ms AS service_p90_ms, service.p95_ms AS service_p95_ms,
  service.p99_ms AS service_p99_ms, service.p999_ms AS service_p999_ms,
  response.p50_ms AS response_p50_ms, response.p90_ms AS response_p90_ms, response.p95_ms AS response_p95_ms,
  response.p99_ms AS response_p99_ms, response.p999_ms AS response_p999_ms
FROM (FROM shown_figures WHERE metric = 'service' AND n > 0) AS service
JOIN (FROM shown_figures WHERE metric = 'response') AS response USING (place)
ORDER BY place
