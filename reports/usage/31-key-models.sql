-- title: Keys by model
-- section: Keys and models
-- optional: true
-- fold: more pairs of a key and a model
-- columns:
--   key: { filter: true }
--   model: { filter: true }
--   credits: { bar: true, label: "{unit}", amount: "{unit}", unknown: is_least }
--   is_least: { hidden: true }
--   cost_usd: { optional: true, amount: USD, label: cost }
--   cached: { optional: true }
SELECT
  coalesce(getvariable('usage_key_names')[key_fp], key_fp, 'not known') AS key,
  left(coalesce(model, 'not known'), 200) AS model,
  credits::DOUBLE AS credits, credits * getvariable('usage_credit_usd') AS cost_usd, requests,
  requests > coalesce(credits_known, 0) AS is_least,
  prompt_tokens::DOUBLE AS "tokens in", cached_tokens::DOUBLE AS "cached",
  completion_tokens::DOUBLE AS "tokens out",
  row_number() OVER (ORDER BY credits DESC NULLS LAST, requests DESC, key_fp, model) > 10 AS folded
FROM usage_key_models WHERE requests > 0
ORDER BY credits DESC NULLS LAST, requests DESC, key_fp, model LIMIT 60
