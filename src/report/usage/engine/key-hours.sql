SELECT key_fp, account, hour, width_us, CAST(sum(requests) AS BIGINT) AS requests,
  sum(CASE WHEN unit = getvariable('usage_unit') THEN credits END) AS credits,
  min(first_us) AS first_us, max(last_us) AS last_us
FROM usage_cells AS cell
WHERE cell.first_us >= getvariable('usage_from') AND cell.first_us < getvariable('usage_to')
GROUP BY key_fp, account, hour, width_us
