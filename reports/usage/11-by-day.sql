-- picture: true
-- section: Use over time
-- note: Local days, of 23 or 25 hours across a clock change. Hatched days are not over, or not measured to their end.
SELECT label AS day, start_us, series, credits::DOUBLE AS credits, requests, open::INTEGER AS open,
  length_s / 3600 AS hours
FROM usage_days
WHERE EXISTS (FROM usage_days WHERE credits <> 0)
ORDER BY start_us, series
