-- title: The first wrong answers
-- section: Errors and limits
-- optional: true
-- note: >-
--   Successes whose answer does not hold what their step expects, or could not be checked. They are no errors; goodput
--   counts them as not good.
-- columns:
--   at_s: { label: ended at }
--   answer: { label: judged as }
--   said: { label: it says }
SELECT ended_s AS at_s, step, attempts.answer, why, wrong_answers.answer AS said
FROM shown_attempts AS attempts JOIN wrong_answers USING (run_id, slot, retry)
WHERE counted ORDER BY ended_s, slot, retry LIMIT 10
