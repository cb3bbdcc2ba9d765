-- The contribution of each request to the sums of its quarter of an hour (docs/usage.md, "The table of quarters").
SELECT origin, source, at_us // 900000000 AS quarter, at_us // 3600000000 AS hour,
  at_us AS first_us, at_us AS last_us, key_fp, account, model, endpoint, outcome, status, error_code,
  requests, credits, possible_credits,
  CASE WHEN possible_credits IS NOT NULL THEN requests END AS credits_known,
  prompt_tokens, cached_tokens, completion_tokens, prompt_tokens + completion_tokens AS both_tokens,
  CASE WHEN prompt_tokens + completion_tokens IS NOT NULL THEN requests END AS tokens_known,
  [CASE WHEN at_us // 60000000 % 15 = minute THEN requests ELSE 0 END FOR minute IN range(15)] AS minutes
FROM usage_shown
