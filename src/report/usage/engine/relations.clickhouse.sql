-- The relations of the queries in ClickHouse: sums of closed days, requests of open days, and sums of intervals.
WITH
usage_lines AS (
  SELECT source, id, at_us, quarter, type, model, endpoint, key_fp, account, outcome, status,
    error_code, credits, unit, prompt_tokens, cached_tokens, cache_write_tokens, cache_write_1h_tokens,
    completion_tokens, reasoning_tokens, requests, priced_by
  FROM usage_events FINAL
  WHERE type <> 'moved' AND (/* account */) AND (empty(getvariable('usage_sources')) OR has(getvariable('usage_sources'), source))),
usage_shown AS (SELECT * FROM usage_lines WHERE type IN ('usage', 'refund')),
usage_ledger AS (SELECT * FROM usage_lines WHERE type <> 'usage'),
closed AS (
  SELECT * EXCEPT (closed_us) FROM usage_quarters FINAL
  WHERE (/* account */) AND (empty(getvariable('usage_sources')) OR has(getvariable('usage_sources'), source))),
requests AS (
  SELECT source, quarter, 900000000 AS width_us, key_fp, account, model, endpoint, outcome, status, error_code, unit,
    requests, 0 AS requests_unknown, credits, credits AS possible_credits,
    if(type = 'refund', credits, NULL) AS refunds,
    if(priced_by IS NULL, NULL, credits) AS computed, priced_by, if(credits IS NULL, NULL, requests) AS credits_known,
    prompt_tokens, cached_tokens, cache_write_tokens, cache_write_1h_tokens, completion_tokens, reasoning_tokens,
    prompt_tokens + completion_tokens AS both_tokens,
    if(prompt_tokens + completion_tokens IS NULL, NULL, requests) AS tokens_known,
    if(cached_tokens IS NULL, NULL, requests) AS cached_known,
    if(cache_write_tokens IS NULL, NULL, requests) AS cache_write_known,
    if(reasoning_tokens IS NULL, NULL, requests) AS reasoning_known,
    at_us AS first_us, at_us AS last_us,
    arrayMap(minute -> if(intDiv(at_us, 60000000) % 15 = minute, requests, 0), range(15)) AS minutes
  FROM usage_shown),
open AS (
  SELECT * FROM requests
  WHERE quarter >= (SELECT if(count() = 0, 0, (intDiv(max(quarter), 96) + 1) * 96) FROM usage_quarters)),
buckets AS (
  SELECT source, intDiv(start_us, 900000000) AS quarter, end_us - start_us AS width_us, key_fp, account, model, endpoint,
    outcome, CAST(NULL AS Nullable(Int32)) AS status, CAST(NULL AS Nullable(String)) AS error_code, unit,
    requests, if(requests IS NULL AND measures = 'usage', 1, 0) AS requests_unknown,
    -- Costs that the source reports apart come before computed ones.
    if(priced_by IS NULL OR NOT has_costs, usage_buckets.credits, NULL) AS credits, credits AS possible_credits, CAST(NULL AS Nullable(Decimal(38, 18))) AS refunds,
    if(priced_by IS NULL, NULL, credits) AS computed, priced_by,
    if(credits IS NULL AND NOT has_costs, NULL, requests) AS credits_known,
    prompt_tokens, cached_tokens, cache_write_tokens, cache_write_1h_tokens, completion_tokens, reasoning_tokens,
    prompt_tokens + completion_tokens AS both_tokens,
    if(prompt_tokens + completion_tokens IS NULL, NULL, requests) AS tokens_known,
    if(cached_tokens IS NULL, NULL, requests) AS cached_known,
    if(cache_write_tokens IS NULL, NULL, requests) AS cache_write_known,
    if(reasoning_tokens IS NULL, NULL, requests) AS reasoning_known,
    start_us AS first_us, least(end_us, greatest(start_us + 1, ingested_us)) - 1 AS last_us, CAST([], 'Array(Int64)') AS minutes
  FROM usage_buckets FINAL
  WHERE counts AND (/* account */) AND (empty(getvariable('usage_sources')) OR has(getvariable('usage_sources'), source))),
usage_cells AS (
  SELECT 'import' AS origin, intDiv(quarter, 4) AS hour, * FROM (
    SELECT * FROM open
    UNION ALL
    SELECT * FROM closed
    UNION ALL
    SELECT * FROM buckets)),
usage_minutes AS (
  SELECT key_fp, intDiv(first_us, 60000000) AS minute, intDiv(quarter, 4) AS hour, first_us, requests FROM open
  UNION ALL
  SELECT key_fp, quarter * 15 + place - 1 AS minute, intDiv(quarter, 4) AS hour, first_us, n AS requests
  FROM closed ARRAY JOIN minutes AS n, arrayEnumerate(minutes) AS place WHERE n > 0),
usage_key_hours AS (/* key-hours */)
