-- optional: true
-- section: Tokens
-- note: >-
--   p50, p95 and p99 of each interval of time, of streams whose tokens the service reported. A
--   percentile with too few samples is not drawn.
SELECT at_s, statistic, ms AS tpot_ms, n
FROM shown_intervals WHERE measure = 'tpot'
QUALIFY count(*) OVER (PARTITION BY statistic) > 1
ORDER BY at_s, statistic
