-- section: First screen
-- optional: true
-- note: >-
--   Percentiles of each interval of time, of plain answers and streams. A timeout counts as at least its deadline. An
--   interval is as long as its percentile needs samples; a percentile with too few is not drawn.
SELECT row_number() OVER (ORDER BY at_s, statistic) = 1 AS first, at_s, statistic, ms AS response_ms, n,
  (SELECT min("responseUs") / 1000 FROM shown_runs) AS objective_ms
FROM shown_intervals WHERE measure = 'response'
QUALIFY count(*) OVER (PARTITION BY statistic) > 1
ORDER BY at_s, statistic
