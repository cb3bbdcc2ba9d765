-- optional: true
-- section: Tokens
-- note: >-
--   Median and 95th percentile of each interval of time, of streams whose tokens the service reported. A
--   percentile with too few samples is not drawn.
SELECT at_s, statistic, ms AS tpot_ms, n
FROM shown_intervals WHERE measure = 'tpot'
QUALIFY min(at_s) OVER () < max(at_s) OVER ()
ORDER BY at_s, statistic
