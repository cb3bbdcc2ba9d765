-- section: Load
-- optional: true
-- note: >-
--   A good request is a success with text that met every objective of the scenario; a failure is never good. The
--   share is of successes and failures together, so answering fewer requests cannot raise it. Only requests of
--   the steady part; deliberate aborts are in neither.
SELECT floor(ended_s / getvariable('bucket_s')) * getvariable('bucket_s') AS at_s,
  count(*) FILTER (good) / count(*) AS share, count(*) FILTER (good) AS good, count(*) AS n
FROM shown_attempts WHERE counted AND judged AND good IS NOT NULL
GROUP BY 1 ORDER BY 1
