SELECT key_fp, account, hour, CAST(sum(requests) AS BIGINT) AS requests, sum(credits) AS credits,
  min(first_us) AS first_us, max(last_us) AS last_us
FROM usage_cells AS cell
WHERE cell.first_us >= getvariable('usage_from') AND cell.first_us < getvariable('usage_to')
GROUP BY key_fp, account, hour
