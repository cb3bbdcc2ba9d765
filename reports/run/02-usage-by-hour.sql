-- optional: true
-- section: Usage
-- note: Successful requests by the hour in which the service answered them, in its own time.
WITH hours AS (
  SELECT
    (at_us // 3600000000) * 3600 AS hour_s,
    coalesce(model, endpoint) AS model,
    count(*) AS requests
  FROM usage WHERE origin = 'run' AND list_contains(getvariable('run_ids'), source) AND outcome = 'ok' GROUP BY ALL
)
SELECT
  strftime(make_timestamp(hour_s * 1000000) AT TIME ZONE 'UTC' AT TIME ZONE getvariable('timezone'), '%-d %b %H:%M') AS hour,
  hour_s, model, requests
FROM hours WHERE (SELECT count(DISTINCT hour_s) FROM hours) > 1 ORDER BY hour_s, model
