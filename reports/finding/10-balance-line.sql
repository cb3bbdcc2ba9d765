-- wide: true
-- optional: true
-- note: >-
--   What the balance fell beyond the prices of the successes, in the order of their balances, around the witnesses of the
--   account that has most of them. A step up that stays is a charge too much, a step down one too little; a short
--   spike is a request that was charged before its answer was over. A mark is a witness.
WITH
  witnessed AS (
    SELECT run_id, slot, retry, shows FROM shown_witnesses
    WHERE rule = getvariable('rule') AND rule LIKE 'BILL-%'
  ),
  balances AS (
    SELECT run_id, slot, retry, ended_s, credits_remaining, outcome, attempts.model,
      coalesce(account, key_fp) AS account, shows
    FROM shown_attempts AS attempts LEFT JOIN witnessed USING (run_id, slot, retry)
    WHERE credits_remaining IS NOT NULL AND EXISTS (FROM witnessed)
  ),
  most AS (
    SELECT account FROM balances WHERE shows IS NOT NULL
    GROUP BY account ORDER BY count(*) DESC, account LIMIT 1
  ),
  placed AS (
    SELECT balances.*, row_number() OVER in_order AS place,
      CASE WHEN row_number() OVER in_order = 1 THEN 0
           ELSE lag(credits_remaining) OVER in_order - credits_remaining
             - CASE WHEN outcome = 'ok' AND balances.model IS NOT NULL THEN prices.credits::DOUBLE ELSE 0 END
      END AS beyond
    FROM balances
    LEFT JOIN model_prices AS prices ON prices.model = balances.model
      AND prices.contract = (SELECT any_value(contract) FROM shown_runs)
    WHERE account IN (FROM most)
    WINDOW in_order AS (ORDER BY credits_remaining DESC, ended_s, slot, retry)
  ),
  -- The witnesses and forty neighbours on each side, thinned to what a reader can see.
  span AS (
    SELECT min(place) - 40 AS from_place, max(place) + 40 AS to_place FROM placed WHERE shows IS NOT NULL
  ),
  summed AS (
    SELECT placed.*, from_place, to_place,
      -- After a success without a known price, nothing is known.
      CASE WHEN count(*) FILTER (WHERE beyond IS NULL) OVER (ORDER BY place) = 0
           THEN sum(beyond) OVER (ORDER BY place) END AS excess, max(ended_s) OVER (ORDER BY place) AS at_s
    FROM placed, span WHERE place BETWEEN from_place AND to_place
  )
SELECT round(at_s, 3) AS at_s, account, credits_remaining AS credits, round(excess, 3) AS excess, shows,
  CASE WHEN shows IS NOT NULL AND beyond > 0 THEN round(beyond, 3)::DECIMAL(18, 0) || ' too much'
       WHEN shows IS NOT NULL AND beyond < 0 THEN round(-beyond, 3)::DECIMAL(18, 0) || ' too little'
       WHEN shows IS NOT NULL THEN 'witness' END AS mark
FROM summed
WHERE shows IS NOT NULL OR place % greatest(1, (to_place - from_place) // 400) = 0
ORDER BY place
