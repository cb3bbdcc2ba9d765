-- title: The same run by the definitions of other tools
-- optional: true
-- folded: true
-- section: Under other definitions
-- note: >-
--   From the same timestamps, for comparison with the figures that those tools print. They define the first
--   token, the time between tokens and percentiles differently, and the others exclude failures and timeouts.
--   Streams of the steady part that succeeded or, for Assay, timed out.
-- empty: No stream of the steady part succeeded or timed out.
-- columns:
--   place: { hidden: true }
--   n: { label: streams }
--   first: { label: first token is }
--   ttft_p50_ms: { label: p50, group: First token, needs: [p50, n] }
--   ttft_p99_ms: { label: p99, group: First token, needs: [p99, n] }
--   between: { label: between tokens }
--   tpot_p50_ms: { label: p50, group: Time per token, needs: [p50, tpot_n] }
--   tpot_p99_ms: { label: p99, group: Time per token, needs: [p99, tpot_n] }
--   tpot_n: { hidden: true }
--   latency_p99_ms: { label: p99, group: Latency, needs: [p99, n] }
WITH told AS MATERIALIZED (
  SELECT ttft_us, tpot_us, service_us,
    CASE WHEN succeeded AND NOT empty THEN ttft_us END AS content,
    CASE WHEN content IS NOT NULL THEN service_us END AS whole,
    tpot_us AS ours, event_ttft_us AS event, tail_tpot_us AS tail, spread_tpot_us AS spread
  FROM shown_latency WHERE ttft_us IS NOT NULL
)
SELECT place, tool, first, between, percentiles, n, tpot_n,
  ttft[1] / 1000 AS ttft_p50_ms, ttft[2] / 1000 AS ttft_p99_ms,
  tpot[1] / 1000 AS tpot_p50_ms, tpot[2] / 1000 AS tpot_p99_ms, latency / 1000 AS latency_p99_ms
FROM (
  SELECT 1 AS place, 'Assay' AS tool, 'content' AS first, 'after the first' AS between, 'linear' AS percentiles,
    count(*) AS n, count(tpot_us) AS tpot_n, quantile_cont(ttft_us, [0.5, 0.99]) AS ttft,
    quantile_cont(tpot_us, [0.5, 0.99]) AS tpot, quantile_cont(service_us, 0.99) AS latency
  FROM told
  UNION ALL
  SELECT 2, 'AIPerf', 'content', 'after the first, called ITL', 'linear', count(content), count(ours),
    quantile_cont(content, [0.5, 0.99]), quantile_cont(ours, [0.5, 0.99]), quantile_cont(whole, 0.99)
  FROM told
  UNION ALL
  SELECT 3, 'GuideLLM', 'content', 'TTFT inside', 'step', count(content), count(spread),
    quantile_disc(content, [0.5, 0.99]), quantile_disc(spread, [0.5, 0.99]), quantile_disc(whole, 0.99)
  FROM told
  UNION ALL
  SELECT 4, 'vLLM bench', 'any chunk', 'end less first', 'linear', count(event), count(tail),
    quantile_cont(event, [0.5, 0.99]), quantile_cont(tail, [0.5, 0.99]), quantile_cont(whole, 0.99)
  FROM told
  UNION ALL
  SELECT 5, 'evalscope', 'any chunk', 'end less first', 'data[int(n·p)]', len(events), len(tails),
    [events[least(len(events), (len(events) * 50) // 100 + 1)], events[least(len(events), (len(events) * 99) // 100 + 1)]],
    [tails[least(len(tails), (len(tails) * 50) // 100 + 1)], tails[least(len(tails), (len(tails) * 99) // 100 + 1)]],
    wholes[least(len(wholes), (len(wholes) * 99) // 100 + 1)]
  FROM (
    SELECT coalesce(list_sort(list(event) FILTER (event IS NOT NULL)), []) AS events,
      coalesce(list_sort(list(tail) FILTER (tail IS NOT NULL)), []) AS tails,
      coalesce(list_sort(list(whole) FILTER (whole IS NOT NULL)), []) AS wholes
    FROM told
  )
)
WHERE n > 0 ORDER BY place
