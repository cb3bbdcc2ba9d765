-- section: Differences
-- wide: true
-- note: >-
--   The change of b against a, with its 95 % bootstrap interval. Where the interval holds 0, chance
--   explains the change, and it is not drawn. Errors change in points, everything else in per cent.
SELECT figure, place, 100 * change AS change, 100 * low AS low, 100 * high AS high, verdict
FROM compared
WHERE change IS NOT NULL AND verdict <> 'unclear'
ORDER BY place
