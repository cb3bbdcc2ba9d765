-- title: What went wrong
-- section: Errors and limits
-- optional: true
-- note: Attempts of the steady part that did not succeed, including those that the scenario provoked or aborted.
-- columns:
--   n: { label: attempts, bar: true }
--   share_ratio: { label: of all }
--   expected: { label: on purpose }
--   first_s: { label: first at }
WITH
  kinds AS (
    SELECT coalesce(status::VARCHAR, outcome) AS outcome, coalesce(error_code, reason) AS code, error_type AS type,
      count(*) AS n, count(*) FILTER (on_purpose) AS expected, min(at_s) AS first_s
    FROM shown_attempts WHERE counted AND outcome <> 'ok' GROUP BY ALL
  ),
  -- Thirty kinds have a row each; the others share one.
  placed AS (SELECT *, least(row_number() OVER (ORDER BY n DESC, outcome, code, type), 31) AS place FROM kinds)
SELECT
  CASE WHEN place = 31 THEN 'others' ELSE any_value(outcome) END AS outcome,
  CASE WHEN place = 31 THEN count(*) || ' more kinds' ELSE any_value(code) END AS "code or reason",
  CASE WHEN place < 31 THEN any_value(type) END AS type,
  sum(n)::BIGINT AS n,
  sum(n) / (SELECT count(*) FROM shown_attempts WHERE counted) AS share_ratio,
  sum(expected)::BIGINT AS expected,
  min(first_s) AS first_s
FROM placed GROUP BY place ORDER BY place
