-- optional: true
-- section: Errors and limits
-- note: The lowest X-Credits-Remaining in each interval, on a logarithmic axis that shows 0.
WITH common AS (
  SELECT account FROM shown_attempts WHERE credits_remaining IS NOT NULL GROUP BY 1 ORDER BY count(*) DESC LIMIT 8
)
SELECT
  floor(ended_s / getvariable('bucket_s')) * getvariable('bucket_s') AS at_s,
  coalesce(account, 'one account') AS account,
  min(credits_remaining) AS credits
FROM shown_attempts
WHERE credits_remaining IS NOT NULL AND (account IS NULL OR account IN (FROM common))
GROUP BY 1, 2 ORDER BY account, at_s
