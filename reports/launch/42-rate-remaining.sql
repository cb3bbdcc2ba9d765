-- optional: true
-- section: Errors and limits
-- note: The lowest X-RateLimit-Remaining in each interval. A fall to 0 is where 429 begins.
WITH common AS (
  SELECT account FROM shown_attempts WHERE rate_remaining IS NOT NULL GROUP BY 1 ORDER BY count(*) DESC LIMIT 8
)
SELECT
  floor(ended_s / getvariable('bucket_s')) * getvariable('bucket_s') AS at_s,
  coalesce(account, 'one account') AS account,
  min(rate_remaining) AS remaining,
  min(rate_limit) AS "limit"
FROM shown_attempts
WHERE rate_remaining IS NOT NULL AND (account IS NULL OR account IN (FROM common))
GROUP BY 1, 2 ORDER BY account, at_s
