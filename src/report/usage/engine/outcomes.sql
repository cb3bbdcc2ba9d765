SELECT quarter, width_us, CASE WHEN width_us > 900000000 THEN source ELSE '' END AS bucket_source,
  CASE WHEN has(getvariable('usage_series'), name) THEN name ELSE '(other)' END AS series,
  /* outcome-sums */
FROM (
  SELECT *, coalesce(CASE getvariable('usage_by') WHEN 'key' THEN key_fp WHEN 'endpoint' THEN endpoint WHEN 'account' THEN account ELSE model END,
    '(unknown)') AS name
  FROM usage_cells) AS named
WHERE first_us >= getvariable('usage_before_from') AND first_us < getvariable('usage_to')
GROUP BY quarter, width_us, bucket_source, series, ended, unit
