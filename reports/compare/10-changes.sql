-- section: Differences
-- wide: true
-- note: >-
--   How much better b is than a, with its 95 % interval: right is better, also for figures of which less is
--   better. A change whose interval contains 0 may be chance, and is not drawn; nor is any change of an INVALID run. A line that ends
--   at its point has no bound on that side. Errors change in percentage points,
--   everything else in per cent.
SELECT figure, place, 100 * better AS better,
  100 * coalesce(better_low, better) AS better_low, 100 * coalesce(better_high, better) AS better_high,
  words, range AS interval, verdict
FROM compared
WHERE change IS NOT NULL AND verdict <> 'unclear'
ORDER BY place
