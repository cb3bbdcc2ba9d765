SELECT source, quarter, key_fp, account, model, endpoint, outcome, status, error_code,
  CAST(sum(requests) AS BIGINT) AS requests, sum(credits) AS credits,
  sum(possible_credits) AS possible_credits, CAST(sum(credits_known) AS BIGINT) AS credits_known,
  CAST(sum(prompt_tokens) AS BIGINT) AS prompt_tokens,
  CAST(sum(cached_tokens) AS BIGINT) AS cached_tokens,
  CAST(sum(completion_tokens) AS BIGINT) AS completion_tokens,
  CAST(sum(both_tokens) AS BIGINT) AS both_tokens, CAST(sum(tokens_known) AS BIGINT) AS tokens_known,
  min(first_us) AS first_us, max(last_us) AS last_us,
  [sum(minutes[1]), sum(minutes[2]), sum(minutes[3]), sum(minutes[4]), sum(minutes[5]),
   sum(minutes[6]), sum(minutes[7]), sum(minutes[8]), sum(minutes[9]), sum(minutes[10]),
   sum(minutes[11]), sum(minutes[12]), sum(minutes[13]), sum(minutes[14]), sum(minutes[15])] AS minutes
FROM usage_cells
GROUP BY source, quarter, key_fp, account, model, endpoint, outcome, status, error_code
