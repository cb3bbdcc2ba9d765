-- The first requests of one log in the time that two logs cover, which the other log names, too. Their ids are the same.
SELECT CAST(count(DISTINCT id) AS BIGINT) AS same, min(id) AS example FROM usage_shown
WHERE source = getvariable('usage_two_logs')[2] AND id IN (
  SELECT id FROM usage_shown
  WHERE source = getvariable('usage_two_logs')[1] AND at_us >= getvariable('usage_both_from') AND at_us <= getvariable('usage_both_to')
  ORDER BY at_us LIMIT 1000)
