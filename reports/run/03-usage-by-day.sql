-- section: Usage
-- note: The same by day, in the report's time zone.
WITH quarters AS (
  SELECT
    (at_us // 900000000) * 900 AS quarter_s,
    coalesce(model, endpoint) AS model,
    count(*) AS requests
  FROM usage WHERE origin = 'run' AND list_contains(getvariable('run_ids'), source) AND outcome = 'ok' GROUP BY ALL
),
days AS (
  SELECT
    (make_timestamp(quarter_s * 1000000) AT TIME ZONE 'UTC' AT TIME ZONE getvariable('timezone'))::DATE AS date,
    model, sum(requests)::BIGINT AS requests
  FROM quarters GROUP BY ALL
)
SELECT strftime(date, '%-d %b') AS day, epoch(date)::BIGINT AS day_s, model, requests FROM days ORDER BY day_s, model
