-- section: Balance and outlook
-- wide: true
-- optional: true
-- note: As the service reported it, in X-Credits-Remaining or GET /user/credits.
WITH
  told AS (
    SELECT *, row_number() OVER (PARTITION BY account ORDER BY at_us) AS place, count(*) OVER (PARTITION BY account) AS n
    FROM usage_balance
    WHERE account IN (SELECT account FROM usage_balance GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 8)
  )
SELECT epoch_ms(timezone(getvariable('usage_timezone'), make_timestamptz(at_us))) AS at_ms, at_us, account, remaining, told_by, n
FROM told WHERE place % greatest(1, n // 300) = 0 OR place = n
ORDER BY account, at_us
