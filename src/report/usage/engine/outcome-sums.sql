outcome, status = 429 AS limited, CAST(sum(requests) AS BIGINT) AS n,
  sum(credits) AS credits, sum(possible_credits) AS possible_credits,
  CAST(sum(credits_known) AS BIGINT) AS credits_known,
  sum(prompt_tokens) AS prompt_tokens, sum(cached_tokens) AS cached_tokens, sum(completion_tokens) AS completion_tokens,
  sum(both_tokens) AS both_tokens, CAST(sum(tokens_known) AS BIGINT) AS tokens_known
