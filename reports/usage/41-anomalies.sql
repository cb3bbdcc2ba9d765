-- title: What stands out
-- section: Reconciliation
-- optional: true
-- columns:
--   n: { label: rows }
SELECT kind, says, n, example FROM usage_anomalies ORDER BY n DESC, kind
