SELECT origin, source, CAST(sum(requests) AS BIGINT) AS requests,
  min(first_us) AS first_us, max(last_us) AS last_us
FROM usage_cells GROUP BY origin, source
