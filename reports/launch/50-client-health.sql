-- section: Load
-- note: >-
--   The worst sending thread in each second. Shaded seconds are tainted: the client's own event loop stopped for
--   20 ms or was busy above 0.8, so latencies measured then describe the client more than the service.
SELECT
  floor((offset_us + at_us) / 1e6) AS at_s,
  floor((offset_us + at_us) / 1e6) + 1 AS to_s,
  max(loop_delay_p99_us) / 1000 AS loop_delay_ms,
  max(lag_p99_us) / 1000 AS lag_ms,
  max(utilisation) AS utilisation,
  CASE WHEN max(loop_gap_us) >= 20000 OR max(utilisation) >= 0.8 THEN 'tainted' ELSE 'sound' END AS state
FROM health JOIN shown_runs USING (run_id)
WHERE shard >= 0
GROUP BY ALL ORDER BY at_s
