-- title: Credits that expire unused
-- section: Balance and outlook
-- optional: true
-- note: In the median future, and in 8 of 10.
-- columns:
--   grant_name: { label: grant }
--   low: { label: at least, group: expire unused }
--   median: { label: about, group: expire unused }
--   high: { label: at most, group: expire unused }
SELECT grant_name, expires, low, median, high FROM usage_expiring ORDER BY expires_us
