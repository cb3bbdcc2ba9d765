-- section: Balance and outlook
-- wide: true
-- optional: true
-- note: >-
--   The line is the median of 500 futures drawn from the days that were seen; 80 % of them lie in the band.
--   A step is credits that expire unused.
SELECT epoch_ms(timezone(getvariable('usage_timezone'), make_timestamptz(at_us))) AS at_ms, low, median, high
FROM usage_outlook ORDER BY at_us
