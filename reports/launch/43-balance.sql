-- optional: true
-- section: Errors and limits
-- note: The lowest X-Credits-Remaining in each interval, on a logarithmic axis that shows 0.
WITH cells AS (
  SELECT floor(ended_s / getvariable('bucket_s')) * getvariable('bucket_s') AS at_s, account,
    min(credits_remaining) AS credits, count(*) AS n
  FROM shown_attempts WHERE credits_remaining IS NOT NULL GROUP BY 1, 2
),
common AS (SELECT account FROM cells GROUP BY 1 ORDER BY sum(n) DESC LIMIT 8)
SELECT at_s, coalesce(account, 'one account') AS account, credits
FROM cells WHERE account IS NULL OR account IN (FROM common)
ORDER BY account, at_s
