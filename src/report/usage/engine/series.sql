SELECT coalesce(CASE getvariable('usage_by') WHEN 'key' THEN key_fp WHEN 'endpoint' THEN endpoint WHEN 'account' THEN account ELSE model END,
    '(unknown)') AS name, sum(requests) AS requests
FROM usage_cells
WHERE first_us >= getvariable('usage_from') AND first_us < getvariable('usage_to')
GROUP BY name ORDER BY requests DESC, name LIMIT 7
