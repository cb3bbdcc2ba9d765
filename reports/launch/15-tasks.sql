-- title: Tasks
-- section: Latency
-- optional: true
-- note: >-
--   A task is several requests that wait for each other. Its service time leaves out the delays of tools. A task past its
--   deadline counts as at least so long; failed ones have no time. Credits and cost are by the contract, of all its requests.
-- columns:
--   n: { label: tasks }
--   success_ratio: { label: succeeded }
--   requests: { label: requests each }
--   credits_each: { label: credits each, optional: true }
--   cost_each: { label: cost each, optional: true }
SELECT task, count(*) AS n, count(*) FILTER (succeeded) / nullif(count(*) FILTER (judged), 0) AS success_ratio,
  avg(requests) AS requests,
  (SELECT sum(credits_each * costs.tasks) / sum(costs.tasks) FROM shown_task_costs AS costs WHERE costs.task = task_values.task) AS credits_each,
  (SELECT string_agg(DISTINCT cost_each, ', ') FROM shown_task_costs AS costs WHERE costs.task = task_values.task) AS cost_each,
  CASE WHEN count(task_us) >= getvariable('needs_p50') THEN quantile_cont(task_us, 0.5) / 1000 END AS p50_ms,
  CASE WHEN count(task_us) >= getvariable('needs_p95') THEN quantile_cont(task_us, 0.95) / 1000 END AS p95_ms,
  CASE WHEN count(task_service_us) >= getvariable('needs_p50') THEN quantile_cont(task_service_us, 0.5) / 1000 END AS service_p50_ms
FROM task_values WHERE list_contains(getvariable('run_ids'), run_id)
  AND (part = 'steady' OR run_id NOT IN (SELECT run_id FROM request_kinds WHERE part = 'steady'))
GROUP BY task ORDER BY task
