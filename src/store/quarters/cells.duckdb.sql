-- The contribution of each request, and of each sum that counts, to the sums of its quarter of an hour (docs/usage.md,
-- "The table of quarters"). The quarter of a sum is that of its start; `width_us` is its length.
SELECT origin, source, at_us // 900000000 AS quarter, at_us // 3600000000 AS hour,
  at_us AS first_us, at_us AS last_us, 900000000 AS width_us, key_fp, account, model, endpoint, outcome, status,
  error_code, unit, requests, 0 AS requests_unknown, credits, possible_credits,
  CASE WHEN type = 'refund' THEN credits END AS refunds,
  CASE WHEN priced_by IS NOT NULL THEN credits END AS computed, priced_by,
  CASE WHEN possible_credits IS NOT NULL THEN requests END AS credits_known,
  prompt_tokens, cached_tokens, cache_write_tokens, cache_write_1h_tokens, completion_tokens, reasoning_tokens,
  prompt_tokens + completion_tokens AS both_tokens,
  CASE WHEN prompt_tokens + completion_tokens IS NOT NULL THEN requests END AS tokens_known,
  CASE WHEN cached_tokens IS NOT NULL THEN requests END AS cached_known,
  CASE WHEN cache_write_tokens IS NOT NULL THEN requests END AS cache_write_known,
  CASE WHEN reasoning_tokens IS NOT NULL THEN requests END AS reasoning_known,
  [CASE WHEN at_us // 60000000 % 15 = minute THEN requests ELSE 0 END FOR minute IN range(15)] AS minutes
FROM usage_shown
UNION ALL
SELECT 'import', source, start_us // 900000000, start_us // 3600000000,
  -- A sum that was exported before its end is known until then.
  start_us, least(end_us, greatest(start_us + 1, ingested_us)) - 1, width_us, key_fp, account, model, endpoint, outcome, NULL,
  NULL, unit, requests, CASE WHEN requests IS NULL AND measures = 'usage' THEN 1 ELSE 0 END, credits, credits,
  NULL, CASE WHEN priced_by IS NOT NULL THEN credits END, priced_by,
  CASE WHEN credits IS NOT NULL OR has_costs THEN requests END,
  prompt_tokens, cached_tokens, cache_write_tokens, cache_write_1h_tokens, completion_tokens, reasoning_tokens,
  prompt_tokens + completion_tokens,
  CASE WHEN prompt_tokens + completion_tokens IS NOT NULL THEN requests END,
  CASE WHEN cached_tokens IS NOT NULL THEN requests END,
  CASE WHEN cache_write_tokens IS NOT NULL THEN requests END,
  CASE WHEN reasoning_tokens IS NOT NULL THEN requests END,
  NULL
FROM (
  -- Costs that the source reports apart come before computed ones.
  SELECT * REPLACE (CASE WHEN priced_by IS NULL OR NOT has_costs THEN credits END AS credits) FROM usage_shown_buckets)
