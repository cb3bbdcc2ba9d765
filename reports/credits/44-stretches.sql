-- title: Credits between the first and the last balance
-- section: Errors and limits
-- optional: true
-- note: >-
--   Observed and expected over one stretch: the charge of the first reading lies before it. Requests in flight at
--   either reading, and those without a known end, may count or not, hence two figures. What lies outside them is not
--   explained: negative, if less was taken. A dash: a model without a known price.
-- columns:
--   first_credits: { label: first }
--   last_credits: { label: last }
--   taken_credits: { label: taken }
--   expected_credits: { label: expected }
--   at_most_credits: { label: at most }
--   unexplained_credits: { label: unexplained }
--   run: { optional: true }
WITH
  -- Forty accounts have a row each, those with the most unexplained credits first; the others share one.
  placed AS (
    SELECT *, least(row_number() OVER (ORDER BY abs(unexplained) DESC NULLS LAST, run_id, account), 41) AS place,
      count(DISTINCT run_id) OVER () > 1 AS several
    FROM shown_stretches
  )
SELECT
  CASE WHEN place = 41 THEN count(*) || ' more accounts' ELSE any_value(account) END AS account,
  CASE WHEN place < 41 AND any_value(several) THEN any_value(run_id) END AS run,
  CASE WHEN place < 41 THEN any_value(first) END AS first_credits,
  CASE WHEN place < 41 THEN any_value(last) END AS last_credits,
  sum(taken) AS taken_credits,
  CASE WHEN bool_and(expected IS NOT NULL) THEN sum(expected) END AS expected_credits,
  CASE WHEN bool_and(expected IS NOT NULL) THEN sum(expected_at_most) END AS at_most_credits,
  CASE WHEN bool_and(expected IS NOT NULL) THEN sum(unexplained) END AS unexplained_credits
FROM placed GROUP BY place ORDER BY place
