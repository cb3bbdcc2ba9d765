-- section: Load
-- note: >-
--   Requests that were planned, sent, and completely answered. If "sent" is below "planned", this client or its
--   limits held requests back.
WITH
  marks AS (
    SELECT floor(at_s / getvariable('bucket_s')) AS bucket, 'planned' AS what, count(*) AS n
    FROM shown_attempts WHERE retry = 0 GROUP BY 1
    UNION ALL
    SELECT floor(sent_s / getvariable('bucket_s')), 'sent', count(*)
    FROM shown_attempts WHERE sent_s IS NOT NULL GROUP BY 1
    UNION ALL
    SELECT floor(ended_s / getvariable('bucket_s')), 'succeeded', count(*)
    FROM shown_attempts WHERE outcome = 'ok' GROUP BY 1
  )
SELECT at_s, what, coalesce(n, 0) / getvariable('bucket_s') AS requests_per_s
FROM buckets CROSS JOIN (VALUES ('planned'), ('sent'), ('succeeded')) AS kinds(what)
LEFT JOIN marks USING (bucket, what)
WHERE EXISTS (FROM marks)
ORDER BY what, at_s
