-- title: Outcomes of all requests
-- section: Load
-- note: >-
--   planned = sent + not sent, and sent = ok + HTTP error + broken + timeout + aborted. A retry is another
--   attempt, in the slot of its parent.
-- empty: Nothing was planned.
-- columns:
--   place: { hidden: true }
--   not_sent: { label: not sent }
--   http_error: { label: HTTP error }
SELECT coalesce(step, 'all steps') AS step, place, attempts, not_sent, sent, ok, http_error, broken, timeout, aborted, retries
FROM shown_counts WHERE attempts > 0
UNION ALL
SELECT 'outside the steady part', 1000000, count(*), count(*) FILTER (NOT was_sent), count(*) FILTER (was_sent),
  count(*) FILTER (outcome = 'ok'), count(*) FILTER (outcome = 'http_error'), count(*) FILTER (outcome = 'broken'),
  count(*) FILTER (outcome = 'timeout'), count(*) FILTER (outcome = 'aborted'), count(*) FILTER (retry > 0)
FROM shown_attempts WHERE NOT counted HAVING count(*) > 0
ORDER BY place
