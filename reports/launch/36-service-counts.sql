-- title: What the service counted
-- section: Service
-- optional: true
-- note: >-
--   Counters of the service's own metrics, from before the first request until after the last, beside what this client
--   counted. Counters include every client of the service.
-- columns:
--   what: { label: count }
SELECT what, client, service, verdict, cause FROM shown_service ORDER BY place
