-- picture: true
-- section: Use over time
-- wide: true
-- note: >-
--   {Unit} certainly charged in each local hour. Shaded: hours that are not over, and hours that were not
--   measured, which does not mean unused. The hour that a clock change repeats is drawn as two halves.
WITH
  hours AS (FROM usage_hours WHERE EXISTS (FROM usage_hours WHERE credits <> 0)),
  ends AS (
    SELECT start_us, wall_ms AS at_ms, lead(wall_ms, 1, wall_ms + 3600000) OVER (ORDER BY start_us) AS to_ms,
      CASE WHEN bool_and(requests IS NULL) THEN 'not measured' WHEN bool_or(open) THEN 'not over yet' END AS state
    FROM hours GROUP BY start_us, wall_ms
  ),
  shades AS (
    SELECT min(at_ms) AS at_ms, max(to_ms) AS to_ms, state
    FROM (SELECT *, sum(new) OVER (ORDER BY start_us) AS stretch
          FROM (SELECT *, (lag(state) OVER (ORDER BY start_us) IS DISTINCT FROM state)::INTEGER AS new FROM ends))
    WHERE state IS NOT NULL GROUP BY stretch, state
  ),
  -- The last hour twice: a step is drawn to its end only if another point follows.
  points AS (
    SELECT at_ms, hours.* FROM hours JOIN ends USING (start_us)
    UNION ALL
    SELECT to_ms, hours.* FROM hours JOIN (FROM ends ORDER BY start_us DESC LIMIT 1) USING (start_us)
  )
SELECT at_ms, NULL::BIGINT AS to_ms, label AS hour, series, coalesce(credits, 0)::DOUBLE AS credits, requests, NULL AS state
FROM points
UNION ALL
SELECT at_ms, to_ms, NULL, NULL, NULL, NULL, state FROM shades
ORDER BY at_ms, series
