-- title: Models
-- section: Keys and models
-- optional: true
-- note: Sums over the pairs of a key and a model that used most.
-- columns:
--   credits: { bar: true, label: "{unit}", amount: "{unit}", unknown: is_least }
--   is_least: { hidden: true }
--   cost_usd: { optional: true, amount: USD, label: cost }
--   cached: { optional: true }
SELECT
  left(coalesce(model, 'not known'), 200) AS model,
  sum(credits)::DOUBLE AS credits, sum(credits) * getvariable('usage_credit_usd') AS cost_usd,
  sum(requests)::BIGINT AS requests, sum(requests) > coalesce(sum(credits_known), 0) AS is_least,
  sum(prompt_tokens)::DOUBLE AS "tokens in", sum(cached_tokens)::DOUBLE AS "cached",
  sum(completion_tokens)::DOUBLE AS "tokens out"
FROM usage_key_models WHERE requests > 0
GROUP BY 1 HAVING (SELECT count(DISTINCT key_fp) FROM usage_key_models WHERE requests > 0) > 1
ORDER BY credits DESC NULLS LAST, requests DESC, model LIMIT 20
