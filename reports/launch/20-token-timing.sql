-- title: Time to first token and between tokens, by step
-- optional: true
-- section: Tokens
-- note: >-
--   TTFT: from the request on the socket to the first non-empty text, reasoning or tool call, of streams that
--   succeeded or timed out in the steady part. A stream without any text counts as at least the time until its
--   end, and a percentile that reaches it is shown with ≥. TPOT: from the first to the last content, divided by
--   completion tokens less one; a dash if the service reported none. ITL: every gap between content events of
--   streams that succeeded, from the stored histograms, within 0.1 %.
-- empty: No stream of the steady part succeeded or timed out.
-- columns:
--   n: { label: streams }
--   ttft_cut_ms: { hidden: true }
--   response_cut_ms: { hidden: true }
--   ttft_p50_ms: { label: p50, group: TTFT, at_least: ttft_cut_ms, needs: [p50, n] }
--   ttft_p95_ms: { label: p95, group: TTFT, at_least: ttft_cut_ms, needs: [p95, n] }
--   ttft_p99_ms: { label: p99, group: TTFT, at_least: ttft_cut_ms, needs: [p99, n] }
--   response_ttft_p95_ms: { label: p95, group: Response TTFT, at_least: response_cut_ms, needs: [p95, n] }
--   tpot_p50_ms: { label: p50, group: TPOT, needs: [p50, tpot_n] }
--   tpot_p95_ms: { label: p95, group: TPOT, needs: [p95, tpot_n] }
--   tpot_p99_ms: { label: p99, group: TPOT, needs: [p99, tpot_n] }
--   tpot_n: { hidden: true }
--   itl_p50_ms: { label: p50, group: ITL, needs: [p50, itl_n] }
--   itl_p99_ms: { label: p99, group: ITL, needs: [p99, itl_n] }
--   itl_n: { hidden: true }
--   tokens_per_s: { label: output, group: Each stream }
SELECT
  coalesce(ttft.step, 'all steps') AS step, ttft.n,
  ttft.cut_ms AS ttft_cut_ms, response.cut_ms AS response_cut_ms,
  ttft.p50_ms AS ttft_p50_ms, ttft.p95_ms AS ttft_p95_ms, ttft.p99_ms AS ttft_p99_ms,
  response.p95_ms AS response_ttft_p95_ms,
  tpot.p50_ms AS tpot_p50_ms, tpot.p95_ms AS tpot_p95_ms, tpot.p99_ms AS tpot_p99_ms, tpot.n AS tpot_n,
  itl.p50_ms AS itl_p50_ms, itl.p99_ms AS itl_p99_ms, itl.n AS itl_n,
  1e3 / nullif(tpot.p50_ms, 0) AS tokens_per_s
FROM (FROM shown_figures WHERE metric = 'ttft' AND n > 0) AS ttft
JOIN (FROM shown_figures WHERE metric = 'response_ttft') AS response USING (place)
JOIN (FROM shown_figures WHERE metric = 'tpot') AS tpot USING (place)
JOIN (FROM shown_figures WHERE metric = 'itl') AS itl USING (place)
ORDER BY place
