SELECT source, type, unit, count(*) AS entries, sum(credits) AS amount
FROM usage_ledger
WHERE at_us >= getvariable('usage_from') AND at_us < getvariable('usage_to')
GROUP BY source, type, unit ORDER BY type, unit, source
