-- picture: true
-- section: Use over time
-- note: Outcomes of the requests of each local day. A request whose end is unknown may have been charged.
SELECT label AS day, start_us, outcome, sum(n)::BIGINT AS requests, bool_or(open)::INTEGER AS open
FROM (
  SELECT label, start_us, open, ok AS succeeded, limited AS "429", failed - limited AS "other errors", ambiguous AS "end not known"
  FROM usage_days
) UNPIVOT (n FOR outcome IN (succeeded, "429", "other errors", "end not known"))
GROUP BY ALL
HAVING sum(n) > 0 OR outcome = 'succeeded'
ORDER BY start_us, outcome
