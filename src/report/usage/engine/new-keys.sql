SELECT key_fp, min(hours.first_us) AS first_us, CAST(sum(requests) AS BIGINT) AS requests,
  count(*) OVER () AS n
FROM usage_key_hours AS hours
WHERE key_fp IS NOT NULL AND key_fp NOT IN (
  SELECT key_fp FROM usage_cells WHERE first_us < getvariable('usage_from') AND key_fp IS NOT NULL)
GROUP BY key_fp
HAVING min(hours.first_us) >= getvariable('usage_covered_from') + 86400000000
ORDER BY first_us, key_fp LIMIT 5
