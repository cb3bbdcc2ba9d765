-- The relations of the queries in ClickHouse: sums of closed days, and requests of open days.
WITH
usage_shown AS (
  SELECT source, id, at_us, quarter, model, endpoint, key_fp, account, outcome, status,
    error_code, credits, prompt_tokens, cached_tokens, completion_tokens, requests
  FROM usage_events FINAL
  WHERE empty(getvariable('usage_sources')) OR has(getvariable('usage_sources'), source)),
closed AS (
  SELECT * EXCEPT (closed_us) FROM usage_quarters FINAL
  WHERE empty(getvariable('usage_sources')) OR has(getvariable('usage_sources'), source)),
requests AS (
  SELECT source, quarter, key_fp, account, model, endpoint, outcome, status, error_code, requests, credits,
    credits AS possible_credits, if(credits IS NULL, NULL, requests) AS credits_known,
    prompt_tokens, cached_tokens, completion_tokens, prompt_tokens + completion_tokens AS both_tokens,
    if(prompt_tokens + completion_tokens IS NULL, NULL, requests) AS tokens_known,
    at_us AS first_us, at_us AS last_us,
    arrayMap(minute -> if(intDiv(at_us, 60000000) % 15 = minute, requests, 0), range(15)) AS minutes
  FROM usage_shown),
open AS (
  SELECT * FROM requests
  WHERE quarter >= (SELECT if(count() = 0, 0, (intDiv(max(quarter), 96) + 1) * 96) FROM usage_quarters)),
usage_cells AS (
  SELECT 'import' AS origin, intDiv(quarter, 4) AS hour, * FROM (
    SELECT * FROM open
    UNION ALL
    SELECT * FROM closed)),
usage_minutes AS (
  SELECT key_fp, intDiv(first_us, 60000000) AS minute, intDiv(quarter, 4) AS hour, first_us, requests FROM open
  UNION ALL
  SELECT key_fp, quarter * 15 + place - 1 AS minute, intDiv(quarter, 4) AS hour, first_us, n AS requests
  FROM closed ARRAY JOIN minutes AS n, arrayEnumerate(minutes) AS place WHERE n > 0),
usage_key_hours AS (/* key-hours */)
