-- section: Differences
-- wide: true
-- note: >-
--   The change from a to b, with its 95 % bootstrap interval. A change whose interval contains 0 may be chance,
--   and is not drawn. Errors change in percentage points, everything else in per cent.
SELECT figure, place, 100 * change AS change, 100 * low AS low, 100 * high AS high, verdict
FROM compared
WHERE change IS NOT NULL AND verdict <> 'unclear'
ORDER BY place
