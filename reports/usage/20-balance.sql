-- section: Balance and outlook
-- note: As the service told it, by X-Credits-Remaining or by GET /user/credits.
WITH
  zone AS (SELECT first(offset_min ORDER BY quarter) AS offset_min FROM usage_calendar),
  told AS (
    SELECT *, row_number() OVER (PARTITION BY account ORDER BY at_us) AS place, count(*) OVER (PARTITION BY account) AS n
    FROM usage_balance
    WHERE account IN (SELECT account FROM usage_balance GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 8)
  )
SELECT at_us // 1000 + offset_min * 60000 AS at_ms, account, remaining, told_by
FROM told, zone WHERE place % greatest(1, n // 300) = 0 OR place = n
ORDER BY account, at_ms
