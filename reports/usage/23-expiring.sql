-- title: Credits that expire unused
-- section: Balance and outlook
-- optional: true
-- note: The median of the simulated futures, and the range of 80 % of them.
-- columns:
--   grant_name: { label: grant }
--   low: { label: at least, group: expire unused }
--   median: { label: about, group: expire unused }
--   high: { label: at most, group: expire unused }
SELECT grant_name, expires, low, median, high FROM usage_expiring ORDER BY expires_us
