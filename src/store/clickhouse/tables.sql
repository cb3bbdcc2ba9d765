-- Requests of imported logs. Source, quarter and id identify a row. If it is imported again, it counts once, in its
-- first version. A partition is a day.
CREATE TABLE IF NOT EXISTS usage_events (
  source LowCardinality(String),
  id String,
  at_us Int64,
  quarter Int64 MATERIALIZED intDiv(at_us, 900000000),
  ingested_us Int64,
  first_wins UInt64 MATERIALIZED 9223372036854775807 - ingested_us,
  model LowCardinality(Nullable(String)),
  endpoint LowCardinality(Nullable(String)),
  key_fp Nullable(String),
  account Nullable(String),
  outcome LowCardinality(String),
  status Nullable(Int32),
  error_code LowCardinality(Nullable(String)),
  credits Nullable(Decimal(38, 18)),
  prompt_tokens Nullable(Int64),
  cached_tokens Nullable(Int64),
  completion_tokens Nullable(Int64),
  requests Int64
) ENGINE = ReplacingMergeTree(first_wins)
PARTITION BY intDiv(at_us, 86400000000) ORDER BY (source, quarter, id);
-- Closed days, as quarters of an hour (docs/usage.md). Closing a day again replaces its sums.
CREATE TABLE IF NOT EXISTS usage_quarters (
  source LowCardinality(String),
  quarter Int64,
  key_fp Nullable(String),
  account Nullable(String),
  model LowCardinality(Nullable(String)),
  endpoint LowCardinality(Nullable(String)),
  outcome LowCardinality(String),
  status Nullable(Int32),
  error_code LowCardinality(Nullable(String)),
  requests Int64,
  credits Nullable(Decimal(38, 18)),
  possible_credits Nullable(Decimal(38, 18)),
  credits_known Nullable(Int64),
  prompt_tokens Nullable(Int64),
  cached_tokens Nullable(Int64),
  completion_tokens Nullable(Int64),
  both_tokens Nullable(Int64),
  tokens_known Nullable(Int64),
  first_us Int64,
  last_us Int64,
  minutes Array(Int64),
  closed_us Int64 DEFAULT toUnixTimestamp64Micro(now64(6))
) ENGINE = ReplacingMergeTree(closed_us)
PARTITION BY intDiv(quarter, 96)
ORDER BY (source, quarter, key_fp, account, model, endpoint, outcome, status, error_code)
SETTINGS allow_nullable_key = 1;
-- The balances that the service itself reported.
CREATE TABLE IF NOT EXISTS usage_polls (
  polled_us Int64,
  service_us Nullable(Int64),
  base_url String,
  key_fp String,
  status Int32,
  consumed Nullable(Decimal(18, 6)),
  remaining Nullable(Decimal(18, 6)),
  requests Nullable(Int64),
  average_tokens Nullable(Float64),
  grants_json Nullable(String),
  body Nullable(String)
) ENGINE = ReplacingMergeTree ORDER BY (base_url, key_fp, polled_us)
