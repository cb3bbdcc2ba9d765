-- title: Anomalies
-- section: Reconciliation
-- optional: true
-- columns:
--   summary: { label: what }
--   n: { label: rows }
SELECT kind, summary, n, example FROM usage_anomalies ORDER BY n DESC, kind
