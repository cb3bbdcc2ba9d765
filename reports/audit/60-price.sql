-- title: The price of this evidence
-- section: What it cost
-- note: >-
--   Credits by the contract: what the successes should have cost, and what attempts without a known end
--   (broken, timed out, aborted) may have cost on top. A dash: a model without a known price.
-- empty: No attempt was made.
-- columns:
--   price_credits: { label: successes }
--   at_most_credits: { label: at most }
--   lasted_s: { label: lasted }
WITH priced AS (
  SELECT attempts.*, runs.kind, runs.scenario, runs.offset_us, coalesce(credits::DOUBLE, CASE WHEN endpoint IN ('models', 'credits') THEN 0 END) AS price
  FROM shown_attempts AS attempts
  JOIN shown_runs AS runs USING (run_id)
  LEFT JOIN model_prices ON model_prices.contract = runs.contract AND model_prices.model = attempts.model
)
SELECT
  run_id AS run, kind, scenario,
  count(*) FILTER (outcome <> 'not_sent') AS requests,
  count(*) FILTER (outcome = 'ok') AS successes,
  CASE WHEN bool_or(outcome = 'ok' AND price IS NULL) THEN NULL ELSE coalesce(sum(price) FILTER (outcome = 'ok'), 0) END AS price_credits,
  CASE WHEN bool_or(outcome IN ('ok', 'broken', 'timeout', 'aborted') AND price IS NULL) THEN NULL
       ELSE coalesce(sum(price) FILTER (outcome IN ('ok', 'broken', 'timeout', 'aborted')), 0) END AS at_most_credits,
  max(ended_s) - min(at_s) AS lasted_s
FROM priced GROUP BY run_id, kind, scenario, offset_us ORDER BY offset_us, run_id
