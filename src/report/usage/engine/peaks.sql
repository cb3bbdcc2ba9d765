-- Minutes of all keys would be most of a page's cost. So this reads only the 50 busiest hours, and hours with more
-- requests than the lowest limit: no minute has more requests than its hour. A peak exists only below the width of sums:
-- `minute_unknown` and so on are requests of sums that are wider.
WITH hours AS (
  SELECT key_fp, hour, sum(requests) AS n FROM usage_key_hours WHERE width_us <= 3600000000 GROUP BY key_fp, hour),
busy AS (
  SELECT key_fp, hour FROM hours WHERE n > getvariable('usage_lowest_limit')
  UNION DISTINCT SELECT key_fp, hour FROM (SELECT key_fp, hour FROM hours ORDER BY n DESC LIMIT 50) AS busiest),
minutes AS (
  SELECT sum(usage_minutes.requests) AS n
  FROM usage_minutes JOIN busy
    ON usage_minutes.key_fp IS NOT DISTINCT FROM busy.key_fp AND usage_minutes.hour = busy.hour
  WHERE first_us >= getvariable('usage_from') AND first_us < getvariable('usage_to')
  GROUP BY usage_minutes.key_fp, usage_minutes.minute)
SELECT (SELECT CAST(max(n) AS BIGINT) FROM minutes) AS minute, (SELECT CAST(max(n) AS BIGINT) FROM hours) AS hour,
  (SELECT CAST(max(n) AS BIGINT)
   FROM (SELECT sum(requests) AS n FROM usage_key_hours WHERE width_us <= 86400000000
         GROUP BY key_fp, floor(hour / 24)) AS days) AS day,
  (SELECT CAST(max(width_us) AS BIGINT) FROM usage_key_hours) AS width_us
