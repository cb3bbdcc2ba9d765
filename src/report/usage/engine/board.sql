-- Sums for the filters of the page, of the models, keys and endpoints; keys beyond the first are one. A page by account
-- or tag has accounts or values in the place of keys.
SELECT quarter, width_us, model_name AS model, key_name AS key, endpoint_name AS endpoint, outcome, status, unit,
  CAST(sum(requests) AS BIGINT) AS requests, CAST(sum(credits_known) AS BIGINT) AS credits_known, sum(credits) AS credits,
  sum(prompt_tokens) AS prompt_tokens, sum(cached_tokens) AS cached_tokens, sum(completion_tokens) AS completion_tokens
FROM (
  SELECT *, coalesce(model, '(unknown)') AS model_name, coalesce(endpoint, '(unknown)') AS endpoint_name,
    CASE WHEN getvariable('usage_by') = 'account' THEN coalesce(account, '(unknown)')
      WHEN getvariable('usage_by') = 'tag' THEN coalesce(nullif(JSONExtractString(tags, getvariable('usage_tag')), ''), '(unknown)')
      WHEN has(getvariable('usage_top'), coalesce(key_fp, '')) THEN coalesce(key_fp, '(unknown)')
      ELSE '(other)' END AS key_name
  FROM usage_cells) AS named
WHERE first_us >= getvariable('usage_from') AND first_us < getvariable('usage_to')
GROUP BY quarter, width_us, model_name, key_name, endpoint_name, outcome, status, unit
