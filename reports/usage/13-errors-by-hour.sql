-- section: When
-- note: Requests that failed in each local hour. 429 means that the rate band was too small at that hour.
WITH
  zone AS (SELECT first(offset_min ORDER BY quarter) AS offset_min FROM usage_calendar),
  hours AS (
    SELECT start_us // 1000 + any_value(offset_min) * 60000 AS at_ms, label AS hour,
      sum(limited)::BIGINT AS "429", sum(failed - limited)::BIGINT AS "other errors", sum(ambiguous)::BIGINT AS "end not known"
    FROM usage_hours, zone GROUP BY start_us, label
  )
SELECT at_ms, hour, error, n FROM hours
UNPIVOT (n FOR error IN ("429", "other errors", "end not known"))
WHERE EXISTS (FROM hours WHERE "429" + "other errors" + "end not known" > 0)
ORDER BY at_ms, error
