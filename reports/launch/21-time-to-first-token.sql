-- optional: true
-- section: First screen
-- note: >-
--   Percentiles of each interval of time. A stream that timed out or had no text counts as at
--   least the time until its end. A percentile with too few samples is not drawn.
SELECT row_number() OVER (ORDER BY at_s, statistic) = 1 AS first, at_s, statistic, ms AS ttft_ms, n,
  (SELECT min("ttftUs") / 1000 FROM shown_runs) AS objective_ms
FROM shown_intervals WHERE measure = 'ttft'
QUALIFY count(*) OVER (PARTITION BY statistic) > 1
ORDER BY at_s, statistic
