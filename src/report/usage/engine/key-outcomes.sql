SELECT key_fp, account, /* outcome-sums */
FROM usage_cells
WHERE first_us >= getvariable('usage_from') AND first_us < getvariable('usage_to')
  AND has(getvariable('usage_top'), coalesce(key_fp, ''))
GROUP BY key_fp, account, ended, unit
