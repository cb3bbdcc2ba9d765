-- title: Time to first token and between tokens, by step
-- section: Tokens
-- note: >-
--   TTFT: first non-empty text, reasoning or tool call, since the socket carried the request.
--   TPOT: from the first to the last content, over completion tokens less one; a dash where the service
--   reported none. ITL: every gap between content events, from the stored histograms. Streams that succeeded, outside the warm-up.
-- empty: No stream succeeded outside the warm-up.
-- columns:
--   n: { label: streams }
--   ttft_p50_ms: { label: p50, group: TTFT, needs: [11, n] }
--   ttft_p95_ms: { label: p95, group: TTFT, needs: [130, n] }
--   ttft_p99_ms: { label: p99, group: TTFT, needs: [662, n] }
--   response_ttft_p95_ms: { label: p95, group: Response TTFT, needs: [130, n] }
--   tpot_p50_ms: { label: p50, group: TPOT, needs: [11, tpot_n] }
--   tpot_p95_ms: { label: p95, group: TPOT, needs: [130, tpot_n] }
--   tpot_p99_ms: { label: p99, group: TPOT, needs: [662, tpot_n] }
--   tpot_n: { hidden: true }
--   itl_p50_ms: { label: p50, group: ITL, needs: [11, itl_n] }
--   itl_p99_ms: { label: p99, group: ITL, needs: [662, itl_n] }
--   itl_n: { hidden: true }
--   tokens_per_s: { label: output, group: Each stream }
SELECT
  step,
  count(*) AS n,
  quantile_cont(ttft_us, 0.5) / 1000 AS ttft_p50_ms,
  quantile_cont(ttft_us, 0.95) / 1000 AS ttft_p95_ms,
  quantile_cont(ttft_us, 0.99) / 1000 AS ttft_p99_ms,
  quantile_cont(response_ttft_us, 0.95) / 1000 AS response_ttft_p95_ms,
  quantile_cont(tpot_us, 0.5) / 1000 AS tpot_p50_ms,
  quantile_cont(tpot_us, 0.95) / 1000 AS tpot_p95_ms,
  quantile_cont(tpot_us, 0.99) / 1000 AS tpot_p99_ms,
  count(tpot_us) AS tpot_n,
  any_value(itl.p50_ms) AS itl_p50_ms,
  any_value(itl.p99_ms) AS itl_p99_ms,
  coalesce(any_value(itl.n), 0) AS itl_n,
  1e6 / nullif(quantile_cont(tpot_us, 0.5), 0) AS tokens_per_s
FROM shown_latency LEFT JOIN (FROM shown_merged WHERE metric = 'itl') AS itl USING (step)
WHERE outcome = 'ok' AND streamed = 1 AND ttft_us IS NOT NULL
GROUP BY step
ORDER BY step
