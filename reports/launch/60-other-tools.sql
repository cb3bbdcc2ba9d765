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
    event_ttft_us AS event, tail_tpot_us AS tail, spread_tpot_us AS spread
  FROM shown_latency WHERE ttft_us IS NOT NULL
),
-- A percentile keeps all its values, outside DuckDB's limit of memory. So each waits for the one before. evalscope takes the value
-- at index int(n·p). quantile_disc takes that value for a p that is a little larger.
q_ttft AS MATERIALIZED (SELECT quantile_cont(ttft_us, [0.5, 0.99]) AS q FROM told),
q_tpot AS MATERIALIZED (SELECT quantile_cont(tpot_us, [0.5, 0.99]) AS q FROM told, (SELECT 1 AS after FROM q_ttft)),
q_latency AS MATERIALIZED (SELECT quantile_cont(service_us, 0.99) AS q FROM told, (SELECT 1 AS after FROM q_tpot)),
q_content AS MATERIALIZED (SELECT quantile_cont(content, [0.5, 0.99]) AS q FROM told, (SELECT 1 AS after FROM q_latency)),
q_content_step AS MATERIALIZED (SELECT quantile_disc(content, [0.5, 0.99]) AS q FROM told, (SELECT 1 AS after FROM q_content)),
q_whole AS MATERIALIZED (SELECT quantile_cont(whole, 0.99) AS q FROM told, (SELECT 1 AS after FROM q_content_step)),
q_whole_step AS MATERIALIZED (SELECT quantile_disc(whole, [0.99, 0.990000000001]) AS q FROM told, (SELECT 1 AS after FROM q_whole)),
q_spread_step AS MATERIALIZED (SELECT quantile_disc(spread, [0.5, 0.99]) AS q FROM told, (SELECT 1 AS after FROM q_whole_step)),
q_event AS MATERIALIZED (SELECT quantile_cont(event, [0.5, 0.99]) AS q FROM told, (SELECT 1 AS after FROM q_spread_step)),
q_event_step AS MATERIALIZED (SELECT quantile_disc(event, [0.500000000001, 0.990000000001]) AS q FROM told, (SELECT 1 AS after FROM q_event)),
q_tail AS MATERIALIZED (SELECT quantile_cont(tail, [0.5, 0.99]) AS q FROM told, (SELECT 1 AS after FROM q_event_step)),
q_tail_step AS MATERIALIZED (SELECT quantile_disc(tail, [0.500000000001, 0.990000000001]) AS q FROM told, (SELECT 1 AS after FROM q_tail)),
counted AS (
  SELECT count(*) AS n, count(tpot_us) AS tpot_n, count(content) AS content_n, count(spread) AS spread_n,
    count(event) AS event_n, count(tail) AS tail_n FROM told
)
SELECT place, tool, first, between, percentiles, n, tpot_n,
  ttft[1] / 1000 AS ttft_p50_ms, ttft[2] / 1000 AS ttft_p99_ms,
  tpot[1] / 1000 AS tpot_p50_ms, tpot[2] / 1000 AS tpot_p99_ms, latency / 1000 AS latency_p99_ms
FROM (
  SELECT 1 AS place, 'Assay' AS tool, 'content' AS first, 'after the first' AS between, 'linear' AS percentiles,
    n, tpot_n, q_ttft.q AS ttft, q_tpot.q AS tpot, q_latency.q AS latency
  FROM counted, q_ttft, q_tpot, q_latency
  UNION ALL
  SELECT 2, 'AIPerf', 'content', 'after the first, called ITL', 'linear', content_n, tpot_n,
    q_content.q, q_tpot.q, q_whole.q
  FROM counted, q_content, q_tpot, q_whole
  UNION ALL
  SELECT 3, 'GuideLLM', 'content', 'TTFT inside', 'step', content_n, spread_n,
    q_content_step.q, q_spread_step.q, q_whole_step.q[1]
  FROM counted, q_content_step, q_spread_step, q_whole_step
  UNION ALL
  SELECT 4, 'vLLM bench', 'any chunk', 'end less first', 'linear', event_n, tail_n, q_event.q, q_tail.q, q_whole.q
  FROM counted, q_event, q_tail, q_whole
  UNION ALL
  SELECT 5, 'evalscope', 'any chunk', 'end less first', 'data[int(n·p)]', event_n, tail_n,
    q_event_step.q, q_tail_step.q, q_whole_step.q[2]
  FROM counted, q_event_step, q_tail_step, q_whole_step
)
WHERE n > 0 ORDER BY place
