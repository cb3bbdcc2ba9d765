-- title: Top keys
-- section: Who
-- note: A key is shown by the first 12 digits of its SHA-256, never itself.
-- empty: No key was seen.
-- columns:
--   key: { label: key }
--   credits: { bar: true }
--   ok: { label: succeeded }
--   limited: { label: "429" }
--   failed: { label: all errors }
SELECT
  coalesce(key_fp, 'not known') AS key, account,
  CASE WHEN credits_known > 0 THEN credits::DOUBLE END AS credits,
  requests, ok, limited, failed,
  CASE WHEN tokens_known > 0 THEN (prompt_tokens + completion_tokens) / tokens_known END AS "tokens per request"
FROM usage_key_sums WHERE requests > 0
ORDER BY credits DESC NULLS LAST, requests DESC, key LIMIT 20
