-- optional: true
-- section: Latency
-- note: >-
--   From the stored histograms of the successes, which merge exactly; the stronger a cell, the
--   more requests are in it. An average hides two modes and slow moments, this does not.
WITH
  scale AS (SELECT greatest(2, ceil(pow(max(n), 1 / 6.0)))::BIGINT AS base FROM shown_heat),
  classed AS (
    SELECT shown_heat.*, base, floor(log(n) / log(base) + 1e-9)::INTEGER AS class FROM shown_heat, scale
  )
SELECT
  from_s, to_s, from_ms, to_ms, n, class,
  CASE WHEN base ** class = base ** (class + 1) - 1 THEN (base ** class)::BIGINT::VARCHAR
       ELSE (base ** class)::BIGINT || ' – ' || (base ** (class + 1) - 1)::BIGINT END AS requests
FROM classed ORDER BY from_s, from_ms
