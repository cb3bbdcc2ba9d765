-- optional: true
-- section: Errors and limits
-- note: >-
--   The fall of X-Credits-Remaining since the first response of the account, at its lowest so far. Responses can arrive out of
--   order, but what was spent stays spent.
WITH shown AS (
  SELECT *, arg_min(credits_remaining, (ended_s, -credits_remaining)) OVER (PARTITION BY account) AS credits_at_first
  FROM shown_attempts WHERE credits_remaining IS NOT NULL
),
cells AS (
  SELECT floor(ended_s / getvariable('bucket_s')) * getvariable('bucket_s') AS at_s, account,
    any_value(credits_at_first) - min(credits_remaining) AS spent, min(credits_remaining) AS credits, count(*) AS n
  FROM shown GROUP BY 1, 2
),
common AS (SELECT account FROM cells GROUP BY 1 ORDER BY sum(n) DESC LIMIT 7)
SELECT at_s, coalesce(account, 'one account') AS account,
  max(spent) OVER (PARTITION BY account ORDER BY at_s) AS spent, credits
FROM cells WHERE account IS NULL OR account IN (FROM common)
ORDER BY account, at_s
