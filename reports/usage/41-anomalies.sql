-- title: Anomalies
-- section: Reconciliation
-- optional: true
-- columns:
--   says: { label: what }
--   n: { label: rows }
SELECT kind, says, n, example FROM usage_anomalies ORDER BY n DESC, kind
