SELECT key_fp, at_us // 60000000 AS minute, at_us // 3600000000 AS hour, at_us AS first_us, requests
FROM usage_shown
