-- title: Where every request went
-- section: Load
-- note: planned = sent + not sent, and sent = ok + HTTP error + broken + timeout + aborted. A retry is an attempt more, in the slot of its parent.
-- empty: Nothing was planned.
-- columns:
--   not_sent: { label: not sent }
--   http_error: { label: HTTP error }
SELECT
  CASE WHEN grouping(step) = 1 THEN 'all steps' ELSE step END AS step,
  count(*) AS attempts,
  count(*) FILTER (outcome = 'not_sent') AS not_sent,
  count(*) FILTER (outcome <> 'not_sent') AS sent,
  count(*) FILTER (outcome = 'ok') AS ok,
  count(*) FILTER (outcome = 'http_error') AS http_error,
  count(*) FILTER (outcome = 'broken') AS broken,
  count(*) FILTER (outcome = 'timeout') AS timeout,
  count(*) FILTER (outcome = 'aborted') AS aborted,
  count(*) FILTER (retry > 0) AS retries
FROM shown_attempts
GROUP BY GROUPING SETS ((step), ())
HAVING count(*) > 0
ORDER BY grouping(step), step
