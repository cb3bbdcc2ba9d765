-- title: What went wrong
-- section: Errors and limits
-- empty: Nothing went wrong.
-- columns:
--   n: { label: attempts, bar: true }
--   share_ratio: { label: of all }
--   expected: { label: on purpose }
--   first_s: { label: first at }
SELECT
  coalesce(status::VARCHAR, outcome) AS outcome,
  coalesce(error_code, reason) AS "code or reason",
  error_type AS type,
  count(*) AS n,
  count(*) / (SELECT count(*) FROM shown_attempts) AS share_ratio,
  count(*) FILTER (expects <> 'ok') AS expected,
  min(at_s) AS first_s
FROM shown_attempts
WHERE outcome <> 'ok'
GROUP BY ALL ORDER BY n DESC, 1, 2 LIMIT 30
