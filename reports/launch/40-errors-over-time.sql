-- section: Errors and limits
-- optional: true
-- wide: true
-- note: >-
--   The status and the code that the service sent; this client adds "broken" and "timed out". Errors that the
--   scenario provoked on purpose are included.
WITH
  failures AS (
    SELECT floor(ended_s / getvariable('bucket_s')) AS bucket,
      CASE outcome
        WHEN 'http_error' THEN status || coalesce(' ' || coalesce(error_code, error_type), '')
        ELSE outcome || coalesce(' ' || reason, '')
      END AS error
    FROM shown_attempts WHERE outcome NOT IN ('ok', 'not_sent')
  ),
  common AS (SELECT error FROM failures GROUP BY 1 ORDER BY count(*) DESC, error LIMIT 5)
SELECT
  bucket * getvariable('bucket_s') AS from_s,
  (bucket + 1) * getvariable('bucket_s') AS to_s,
  CASE WHEN error IN (FROM common) THEN error ELSE '(other)' END AS error,
  count(*) AS n
FROM failures GROUP BY ALL ORDER BY from_s, error
