-- title: What went wrong, with one answer of each kind
-- section: First screen
-- optional: true
-- note: Attempts of the steady part that did not succeed, including those that the scenario provoked or aborted.
-- columns:
--   n: { label: attempts, bar: true }
--   share_ratio: { label: of all }
--   expected: { label: on purpose }
--   first_s: { label: first at }
--   said: { label: one of them says }
WITH
  kinds AS (
    SELECT coalesce(status::VARCHAR, outcome) AS outcome, coalesce(error_code, reason) AS code, error_type AS type,
      count(*) AS n, count(*) FILTER (on_purpose) AS expected, min(at_s) AS first_s,
      min(error_message) AS message,
      arg_min({ run_id: run_id, slot: slot, retry: retry }, slot) FILTER ((flags & 32768) <> 0) AS kept
    FROM shown_attempts WHERE counted AND outcome <> 'ok' GROUP BY ALL
  ),
  -- Thirty kinds have a row each; the others share one.
  placed AS (
    SELECT kinds.*, coalesce(message, left(body, 300)) AS said,
      least(row_number() OVER (ORDER BY n DESC, outcome, code, type), 31) AS place
    FROM kinds LEFT JOIN bodies
      ON bodies.run_id = kept.run_id AND bodies.slot = kept.slot AND bodies.retry = kept.retry
  )
SELECT
  CASE WHEN place = 31 THEN 'others' ELSE any_value(outcome) END AS outcome,
  CASE WHEN place = 31 THEN count(*) || ' more kinds' ELSE any_value(code) END AS "code or reason",
  CASE WHEN place < 31 THEN any_value(type) END AS type,
  sum(n)::BIGINT AS n,
  sum(n) / (SELECT count(*) FROM shown_attempts WHERE counted) AS share_ratio,
  sum(expected)::BIGINT AS expected,
  min(first_s) AS first_s,
  CASE WHEN place < 31 THEN any_value(said) END AS said
FROM placed GROUP BY place ORDER BY place
