SELECT source, quarter, width_us, key_fp, account, model, endpoint, outcome, status, error_code, unit,
  CAST(sum(requests) AS BIGINT) AS requests, CAST(sum(requests_unknown) AS BIGINT) AS requests_unknown,
  sum(credits) AS credits, sum(possible_credits) AS possible_credits, sum(refunds) AS refunds,
  CAST(sum(credits_known) AS BIGINT) AS credits_known,
  CAST(sum(prompt_tokens) AS BIGINT) AS prompt_tokens,
  CAST(sum(cached_tokens) AS BIGINT) AS cached_tokens,
  CAST(sum(cache_write_tokens) AS BIGINT) AS cache_write_tokens,
  CAST(sum(cache_write_1h_tokens) AS BIGINT) AS cache_write_1h_tokens,
  CAST(sum(completion_tokens) AS BIGINT) AS completion_tokens,
  CAST(sum(reasoning_tokens) AS BIGINT) AS reasoning_tokens,
  CAST(sum(both_tokens) AS BIGINT) AS both_tokens, CAST(sum(tokens_known) AS BIGINT) AS tokens_known,
  CAST(sum(cached_known) AS BIGINT) AS cached_known, CAST(sum(cache_write_known) AS BIGINT) AS cache_write_known,
  CAST(sum(reasoning_known) AS BIGINT) AS reasoning_known,
  min(first_us) AS first_us, max(last_us) AS last_us,
  [sum(minutes[1]), sum(minutes[2]), sum(minutes[3]), sum(minutes[4]), sum(minutes[5]),
   sum(minutes[6]), sum(minutes[7]), sum(minutes[8]), sum(minutes[9]), sum(minutes[10]),
   sum(minutes[11]), sum(minutes[12]), sum(minutes[13]), sum(minutes[14]), sum(minutes[15])] AS minutes
FROM usage_cells
GROUP BY source, quarter, width_us, key_fp, account, model, endpoint, outcome, status, error_code, unit
