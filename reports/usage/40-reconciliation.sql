-- title: What the service says against what was seen
-- section: Reconciliation
-- note: >-
--   "Seen" is what the successes surely cost by the contract, "at most" adds requests whose end is not
--   known. A difference is what the service charged beyond both.
-- empty: "Nothing to hold it against: poll the service (assay usage watch), or import its log beside a run."
-- columns:
--   service_says: { label: the service says }
--   seen: { label: seen }
--   seen_at_most: { label: at most }
SELECT
  strftime(timezone(getvariable('usage_timezone'), make_timestamptz(from_us)), '%a %-d %b %Y %H:%M') AS "from",
  strftime(timezone(getvariable('usage_timezone'), make_timestamptz(to_us)), '%a %-d %b %Y %H:%M') AS "to",
  account, service_says, seen, seen_at_most, difference, verdict
FROM usage_reconciliation ORDER BY from_us, account LIMIT 50
