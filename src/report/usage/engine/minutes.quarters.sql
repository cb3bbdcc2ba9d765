SELECT key_fp, quarter * 15 + minute AS minute, hour, first_us, minutes[minute + 1] AS requests
FROM (SELECT *, unnest(range(15)) AS minute FROM usage_cells WHERE minutes IS NOT NULL)
