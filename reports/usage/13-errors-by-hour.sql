-- picture: true
-- section: When
-- note: Requests that failed in each local hour. 429 means that the rate band was too small in that hour.
WITH
  hours AS (
    SELECT start_us, wall_ms AS at_ms, label AS hour,
      coalesce(sum(limited), 0)::BIGINT AS "429", coalesce(sum(failed - limited), 0)::BIGINT AS "other errors",
      coalesce(sum(ambiguous), 0)::BIGINT AS "end not known"
    FROM usage_hours GROUP BY ALL
  ),
  -- The last hour twice: a step is drawn to its end only if another point follows.
  points AS (
    FROM hours
    UNION ALL BY NAME
    SELECT * REPLACE (at_ms + 3600000 AS at_ms) FROM (FROM hours ORDER BY start_us DESC LIMIT 1)
  )
SELECT at_ms, hour, error, n FROM points
UNPIVOT (n FOR error IN ("429", "other errors", "end not known"))
WHERE EXISTS (FROM hours WHERE "429" + "other errors" + "end not known" > 0)
QUALIFY sum(n) OVER (PARTITION BY error) > 0
ORDER BY at_ms, error
