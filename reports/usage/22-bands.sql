-- title: When each rate band is lost
-- section: Balance and outlook
-- optional: true
-- note: A band is lost when the balance falls below what it asks for.
-- columns:
--   median: { label: about }
--   early: { label: 1 in 10 before }
--   late: { label: 1 in 10 after }
--   min_balance: { label: from a balance of }
--   per_minute: { label: requests a minute }
--   says: { label: why, optional: true }
SELECT band, median, early, late, min_balance, per_minute,
  CASE WHEN says NOT LIKE 'lost when%' THEN says END AS says
FROM usage_bands ORDER BY min_balance DESC
