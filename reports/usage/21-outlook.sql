-- section: Balance and outlook
-- note: >-
--   The line is the median of 500 futures drawn from the days that were seen, the band holds 8 of 10.
--   A step is credits that expire unused.
SELECT at_us // 1000 + (SELECT last(offset_min ORDER BY quarter) FROM usage_calendar) * 60000 AS at_ms, low, median, high
FROM usage_outlook ORDER BY at_ms
