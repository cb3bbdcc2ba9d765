-- The first entry of a bill beside its use, such as the tax of a month.
SELECT CASE WHEN count(*) = 0 THEN NULL ELSE min(at_us) END AS at_us FROM usage_ledger
WHERE type <> 'refund' AND source IN (SELECT source FROM usage_bills)
