-- title: Top keys
-- section: Keys and models
-- note: A key without a name (--key-names) is shown as the first 12 digits of its SHA-256. The key itself is never shown.
-- empty: No key was seen.
-- columns:
--   key: { label: key }
--   credits: { bar: true, label: "{unit}", amount: "{unit}", unknown: is_least }
--   is_least: { hidden: true }
--   cost_usd: { optional: true, amount: USD, label: cost }
--   cached: { optional: true }
--   ok: { label: succeeded }
--   limited: { label: "429" }
--   failed: { label: all errors }
SELECT
  coalesce(getvariable('usage_key_names')[key_fp], key_fp, 'not known') AS key, account,
  credits::DOUBLE AS credits, credits * getvariable('usage_credit_usd') AS cost_usd,
  requests > coalesce(credits_known, 0) AS is_least,
  requests, ok, limited, failed,
  prompt_tokens::DOUBLE AS "tokens in", cached_tokens::DOUBLE AS "cached",
  completion_tokens::DOUBLE AS "tokens out",
  both_tokens / nullif(tokens_known, 0) AS "tokens per request"
FROM usage_key_sums WHERE requests > 0
ORDER BY credits DESC NULLS LAST, requests DESC, key LIMIT 20
