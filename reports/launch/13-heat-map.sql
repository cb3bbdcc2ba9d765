-- optional: true
-- section: Latency
-- note: >-
--   From the stored histograms of the successes, which merge exactly. A stronger colour means more requests. The
--   map shows two modes and slow moments, which an average hides.
WITH
  -- Round classes, as fine as seven colours allow: 1, 2, 5, 10, or 1, 3, 10, or 1, 10.
  bounds AS (
    SELECT len(steps) AS steps, (step * 10 ** decade)::BIGINT AS base,
      lead(base) OVER (PARTITION BY len(steps) ORDER BY base) - 1 AS last
    FROM (VALUES ([1, 2, 5]), ([1, 3]), ([1])) AS of(steps), unnest(steps) AS each(step), range(13) AS t(decade)
  ),
  fine AS (
    SELECT steps FROM bounds WHERE base <= (SELECT max(n) FROM shown_heat)
    GROUP BY steps HAVING count(*) <= 7 OR steps = 1 ORDER BY steps DESC LIMIT 1
  )
SELECT
  from_s, to_s, from_ms, to_ms, n, base AS class,
  CASE WHEN base = last THEN base::VARCHAR ELSE base || ' – ' || last END AS requests
FROM shown_heat JOIN (FROM bounds SEMI JOIN fine USING (steps)) AS classes ON n BETWEEN base AND last
ORDER BY from_s, from_ms
