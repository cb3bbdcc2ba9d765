-- title: Credits charged by the service and seen by this store
-- section: Reconciliation
-- note: >-
--   "Seen" is what the successes certainly cost by the contract; "at most" adds requests whose end is unknown. A
--   difference is what the service charged beyond both.
-- empty: "Nothing to compare: poll the service (assay usage watch), or import its log into a store with a run."
-- columns:
--   service_reported: { label: by the service }
--   seen: { label: seen }
--   seen_at_most: { label: at most }
SELECT
  strftime(timezone(getvariable('usage_timezone'), make_timestamptz(from_us)), '%a %-d %b %Y %H:%M') AS "from",
  strftime(timezone(getvariable('usage_timezone'), make_timestamptz(to_us)), '%a %-d %b %Y %H:%M') AS "to",
  account, service_reported, seen, seen_at_most, difference, verdict
FROM usage_reconciliation ORDER BY from_us, account LIMIT 50
