-- section: Use over time
-- wide: true
-- note: >-
--   Surely charged credits of each local hour. Shaded: hours that are not over, and hours of which
--   nothing was measured, which is not the same as none used.
WITH
  -- One offset for the whole axis, so that hours follow each other evenly across a clock change.
  zone AS (SELECT first(offset_min ORDER BY quarter) AS offset_min FROM usage_calendar),
  hours AS (SELECT *, start_us // 1000 + offset_min * 60000 AS at_ms FROM usage_hours, zone),
  shades AS (
    SELECT at_ms, max(at_ms + length_s * 1000) AS to_ms, CASE WHEN bool_and(requests IS NULL) THEN 'not measured' ELSE 'not over yet' END AS state
    FROM hours GROUP BY at_ms HAVING bool_or(open) OR bool_and(requests IS NULL)
  ),
  shaded AS (
    SELECT min(at_ms) AS at_ms, max(to_ms) AS to_ms, state
    FROM (SELECT *, sum(new) OVER (ORDER BY at_ms) AS stretch
          FROM (SELECT *, (coalesce(lag(to_ms) OVER (ORDER BY at_ms) <> at_ms OR lag(state) OVER (ORDER BY at_ms) <> state, true))::INTEGER AS new FROM shades))
    GROUP BY stretch, state
  )
SELECT at_ms, NULL::BIGINT AS to_ms, label AS hour, series, coalesce(credits, 0)::DOUBLE AS credits, requests, NULL AS state
FROM hours WHERE EXISTS (FROM hours WHERE credits > 0)
UNION ALL
SELECT at_ms, to_ms, NULL, NULL, NULL, NULL, state FROM shaded WHERE EXISTS (FROM hours WHERE credits > 0)
ORDER BY at_ms, series
