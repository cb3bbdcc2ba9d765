-- wide: true
-- optional: true
-- note: >-
--   The balances that successes reported, in the order of the responses, around the witnesses of the account
--   that has most of them. A mark is a witness. A hole is the fall of the balance beyond the price of that
--   success.
WITH
  witnessed AS (
    SELECT run_id, slot, retry, shows FROM shown_witnesses
    WHERE rule = getvariable('rule') AND rule LIKE 'BILL-%'
  ),
  balances AS (
    SELECT run_id, slot, retry, ended_s, credits_remaining, attempts.model,
      coalesce(account, key_fp) AS account, shows
    FROM shown_attempts AS attempts LEFT JOIN witnessed USING (run_id, slot, retry)
    WHERE credits_remaining IS NOT NULL AND EXISTS (FROM witnessed)
  ),
  most AS (
    SELECT account FROM balances WHERE shows IS NOT NULL
    GROUP BY account ORDER BY count(*) DESC, account LIMIT 1
  ),
  placed AS (
    SELECT balances.*,
      row_number() OVER (ORDER BY ended_s, credits_remaining DESC, slot, retry) AS place,
      lag(credits_remaining) OVER (ORDER BY credits_remaining DESC, ended_s) - credits_remaining AS fell,
      prices.credits::DOUBLE AS price
    FROM balances
    LEFT JOIN model_prices AS prices ON prices.model = balances.model
      AND prices.contract = (SELECT any_value(contract) FROM shown_runs)
    WHERE account IN (FROM most)
  ),
  -- The witnesses and forty neighbours on each side, thinned to what a reader can see.
  span AS (
    SELECT min(place) - 40 AS from_place, max(place) + 40 AS to_place FROM placed WHERE shows IS NOT NULL
  )
SELECT round(ended_s, 3) AS at_s, account, credits_remaining AS credits, shows,
  CASE WHEN shows IS NOT NULL AND fell > price THEN 'hole of ' || round(fell - price, 3)::DECIMAL(18, 0)
       WHEN shows IS NOT NULL THEN 'witness' END AS mark
FROM placed, span
WHERE place BETWEEN from_place AND to_place
  AND (shows IS NOT NULL OR place % greatest(1, (to_place - from_place) // 400) = 0)
ORDER BY at_s
