SELECT key_fp, model, CAST(sum(requests) AS BIGINT) AS requests,
  sum(CASE WHEN unit = getvariable('usage_unit') THEN credits END) AS credits,
  CAST(sum(credits_known) AS BIGINT) AS credits_known,
  sum(prompt_tokens) AS prompt_tokens, sum(cached_tokens) AS cached_tokens, sum(completion_tokens) AS completion_tokens
FROM usage_cells
WHERE first_us >= getvariable('usage_from') AND first_us < getvariable('usage_to')
  AND has(getvariable('usage_top'), coalesce(key_fp, ''))
GROUP BY key_fp, model
