-- optional: true
-- section: Load
-- note: Requests on the wire at the start of each interval, counted from the stamps of every attempt.
WITH moves AS (
  SELECT floor(sent_s / getvariable('bucket_s')) + 1 AS bucket, 1 AS move FROM shown_attempts WHERE sent_s IS NOT NULL
  UNION ALL
  SELECT floor(ended_s / getvariable('bucket_s')) + 1, -1 FROM shown_attempts WHERE sent_s IS NOT NULL
)
SELECT at_s, sum(coalesce(moved, 0)) OVER (ORDER BY bucket)::INTEGER AS in_flight
FROM buckets LEFT JOIN (SELECT bucket, sum(move) AS moved FROM moves GROUP BY 1) USING (bucket)
WHERE EXISTS (FROM moves)
ORDER BY at_s
