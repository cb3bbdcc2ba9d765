-- section: Differences
-- wide: true
-- note: >-
--   The change of b against a, with its 95 % bootstrap interval. Where the interval holds 0, chance
--   explains the change. Errors change in points, everything else in per cent. Of single steps, the
--   changes beyond chance.
SELECT figure, place, 100 * change AS change, 100 * low AS low, 100 * high AS high, verdict
FROM compared
WHERE change IS NOT NULL AND (step IS NULL OR verdict <> 'unclear')
ORDER BY place
