-- title: The same run as other tools would tell it
-- section: Under other definitions
-- note: >-
--   From the same stamps, so that figures can be compared with what those tools print. They disagree on
--   what the first token is, on what lies between tokens, on the rule of percentiles and on failures:
--   all five leave failures out. Streams that succeeded, outside the warm-up.
-- empty: No stream succeeded outside the warm-up.
-- columns:
--   place: { hidden: true }
--   n: { label: streams }
--   first: { label: first token is }
--   ttft_p50_ms: { label: p50, group: First token, needs: [11, n] }
--   ttft_p99_ms: { label: p99, group: First token, needs: [662, n] }
--   between: { label: between tokens }
--   tpot_p50_ms: { label: p50, group: Time per token, needs: [11, tpot_n] }
--   tpot_p99_ms: { label: p99, group: Time per token, needs: [662, tpot_n] }
--   tpot_n: { hidden: true }
--   latency_p99_ms: { label: p99, group: Latency, needs: [662, n] }
WITH
  streams AS (
    SELECT *, completion_tokens AS tokens FROM shown_latency
    WHERE outcome = 'ok' AND streamed = 1 AND ttft_us IS NOT NULL
  ),
  told AS (
    SELECT ttft_us AS content, coalesce(first_event_us, ttft_us) AS event, service_us AS whole, tpot_us AS ours,
      CASE WHEN tokens >= 2 THEN (service_us - coalesce(first_event_us, ttft_us)) / (tokens - 1) END AS tail,
      CASE WHEN tokens >= 1 THEN (ttft_us + coalesce(tpot_us, 0) * (tokens - 1)) / tokens END AS spread
    FROM streams
  )
SELECT * FROM (
  SELECT 1 AS place, 'Assay' AS tool, 'content' AS first, 'after the first' AS between, 'linear' AS percentiles, count(*) AS n, count(ours) AS tpot_n,
    quantile_cont(content, 0.5) / 1000 AS ttft_p50_ms, quantile_cont(content, 0.99) / 1000 AS ttft_p99_ms,
    quantile_cont(ours, 0.5) / 1000 AS tpot_p50_ms, quantile_cont(ours, 0.99) / 1000 AS tpot_p99_ms,
    quantile_cont(whole, 0.99) / 1000 AS latency_p99_ms
  FROM told
  UNION ALL
  SELECT 2, 'AIPerf', 'content', 'after the first, called ITL', 'linear', count(*), count(ours),
    quantile_cont(content, 0.5) / 1000, quantile_cont(content, 0.99) / 1000,
    quantile_cont(ours, 0.5) / 1000, quantile_cont(ours, 0.99) / 1000, quantile_cont(whole, 0.99) / 1000
  FROM told
  UNION ALL
  SELECT 3, 'GuideLLM', 'content', 'TTFT inside', 'step', count(*), count(spread),
    quantile_disc(content, 0.5) / 1000, quantile_disc(content, 0.99) / 1000,
    quantile_disc(spread, 0.5) / 1000, quantile_disc(spread, 0.99) / 1000, quantile_disc(whole, 0.99) / 1000
  FROM told
  UNION ALL
  SELECT 4, 'vLLM bench', 'any chunk', 'end less first', 'linear', count(*), count(tail),
    quantile_cont(event, 0.5) / 1000, quantile_cont(event, 0.99) / 1000,
    quantile_cont(tail, 0.5) / 1000, quantile_cont(tail, 0.99) / 1000, quantile_cont(whole, 0.99) / 1000
  FROM told
  UNION ALL
  SELECT 5, 'evalscope', 'any chunk', 'end less first', 'data[int(n·p)]', count(*), count(tail),
    list_sort(list(event))[least(count(*), (count(*) * 50) // 100 + 1)] / 1000,
    list_sort(list(event))[least(count(*), (count(*) * 99) // 100 + 1)] / 1000,
    list_sort(list(tail) FILTER (tail IS NOT NULL))[least(count(tail), (count(tail) * 50) // 100 + 1)] / 1000,
    list_sort(list(tail) FILTER (tail IS NOT NULL))[least(count(tail), (count(tail) * 99) // 100 + 1)] / 1000,
    list_sort(list(whole))[least(count(*), (count(*) * 99) // 100 + 1)] / 1000
  FROM told
)
WHERE n > 0 ORDER BY place
