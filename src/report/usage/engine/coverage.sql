SELECT origin, source, unit, width_us, priced_by, CAST(sum(requests) AS BIGINT) AS requests,
  count(credits) AS amounts, min(first_us) AS first_us, max(last_us) AS last_us
FROM usage_cells GROUP BY origin, source, unit, width_us, priced_by
