-- section: Load
-- optional: true
-- wide: true
-- note: >-
--   Good is a request that met every objective of the scenario; a failure is never good. The share is
--   of successes and failures together, so that answering fewer requests cannot raise it.
WITH
  objectives AS (
    SELECT run_id,
      (scenario_json::JSON ->> '$.objectives.ttftUs')::DOUBLE AS ttft,
      (scenario_json::JSON ->> '$.objectives.tpotUs')::DOUBLE AS tpot,
      (scenario_json::JSON ->> '$.objectives.serviceUs')::DOUBLE AS service,
      (scenario_json::JSON ->> '$.objectives.responseUs')::DOUBLE AS response
    FROM shown_runs
  ),
  judged AS (
    SELECT floor(ended_s / getvariable('bucket_s')) * getvariable('bucket_s') AS at_s,
      outcome = 'ok'
        AND coalesce(ttft_us <= ttft, true) AND coalesce(tpot_us <= tpot, true)
        AND coalesce(service_us <= service, true) AND coalesce(response_us <= response, true) AS good
    FROM shown_attempts JOIN objectives USING (run_id)
    WHERE outcome <> 'not_sent' AND expects = 'ok' AND part <> 'warmup'
      AND coalesce(ttft, tpot, service, response) IS NOT NULL
  )
SELECT at_s, count(*) FILTER (good) / count(*) AS share, count(*) FILTER (good) AS good, count(*) AS n
FROM judged GROUP BY at_s ORDER BY at_s
