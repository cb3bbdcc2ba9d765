-- optional: true
-- section: Tokens
-- note: >-
--   Median and 95th percentile of each interval of time. A stream that timed out or had no text counts as at
--   least the time until its end. A percentile with too few samples is not drawn.
SELECT at_s, statistic, ms AS ttft_ms, n
FROM shown_intervals WHERE measure = 'ttft'
QUALIFY min(at_s) OVER () < max(at_s) OVER ()
ORDER BY at_s, statistic
