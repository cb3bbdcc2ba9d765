-- picture: true
-- section: When
-- note: Mean of all measured hours of that weekday and time of day. Empty cells were not measured.
SELECT
  ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'][weekday] AS day, weekday,
  printf('%02d', hour_of_day) AS hour,
  requests::DOUBLE AS requests, credits::DOUBLE AS credits, hours
FROM usage_week_hours WHERE requests IS NOT NULL
ORDER BY weekday, hour
