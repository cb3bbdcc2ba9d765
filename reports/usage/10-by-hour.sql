-- picture: true
-- section: Use over time
-- wide: true
-- note: >-
--   {Unit} certainly charged in each local hour. Shaded: hours that are not over, and hours that were not
--   measured, which does not mean unused. Hatched: sums over longer times, such as a day, as their mean for an hour.
--   The hour that a clock change repeats is drawn as two halves.
WITH
  -- Sums that no hour contains, as flat bars of their whole time.
  sums AS (
    SELECT quarter * 900000000 AS start_us, quarter * 900000000 + width_us AS end_us,
      sum(credits)::DOUBLE / (width_us / 3600e6) AS credits, sum(requests)::BIGINT AS requests
    FROM usage_quarters
    WHERE bucket_source IN (SELECT bucket_source FROM usage_places WHERE NOT in_hours)
      AND quarter >= getvariable('usage_from') // 900000000
    GROUP BY quarter, width_us
  ),
  bars AS (
    SELECT wall_ms AS at_ms, wall_ms + (end_us - start_us) // 1000 AS to_ms, credits, requests
    FROM sums JOIN usage_calendar ON at_us = start_us WHERE credits IS NOT NULL
  ),
  hours AS (FROM usage_hours WHERE EXISTS (FROM usage_hours WHERE credits <> 0) OR EXISTS (FROM bars)),
  ends AS (
    SELECT start_us, wall_ms AS at_ms, lead(wall_ms, 1, wall_ms + 3600000) OVER (ORDER BY start_us) AS to_ms,
      CASE WHEN NOT bool_and(requests IS NULL) THEN CASE WHEN bool_or(open) THEN 'not over yet' END
        WHEN NOT EXISTS (FROM sums WHERE sums.start_us <= hours.start_us AND sums.end_us > hours.start_us)
        THEN 'not measured' END AS state
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
UNION ALL
SELECT at_ms, to_ms, NULL, NULL, credits, requests, 'a sum' FROM bars
ORDER BY at_ms, series
