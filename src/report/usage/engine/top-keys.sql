SELECT key_fp, account, CAST(sum(requests) AS BIGINT) AS requests, sum(credits) AS credits,
  min(first_us) AS first_us, max(last_us) AS last_us
FROM usage_key_hours GROUP BY key_fp, account
ORDER BY credits DESC NULLS LAST, requests DESC, key_fp, account LIMIT 20
