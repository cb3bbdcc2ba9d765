-- optional: true
-- section: Errors and limits
-- note: The lowest X-RateLimit-Remaining in each interval. At 0, 429 begins.
WITH cells AS (
  SELECT floor(ended_s / getvariable('bucket_s')) * getvariable('bucket_s') AS at_s, account,
    min(rate_remaining) AS remaining, min(rate_limit) AS "limit", count(*) AS n
  FROM shown_attempts WHERE rate_remaining IS NOT NULL GROUP BY 1, 2
),
common AS (SELECT account FROM cells GROUP BY 1 ORDER BY sum(n) DESC LIMIT 7)
SELECT at_s, coalesce(account, 'one account') AS account, remaining, "limit"
FROM cells WHERE account IS NULL OR account IN (FROM common)
ORDER BY account, at_s
