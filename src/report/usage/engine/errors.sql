SELECT quarter, CAST(sum(requests) AS BIGINT) AS requests,
  CASE WHEN outcome = 'http_error'
       THEN coalesce(CAST(status AS VARCHAR) || CASE WHEN error_code IS NULL THEN '' ELSE ' ' || error_code END, error_code, '')
       ELSE outcome END AS error
FROM usage_cells
WHERE outcome <> 'ok' AND first_us >= getvariable('usage_from') AND first_us < getvariable('usage_to')
GROUP BY quarter, error
