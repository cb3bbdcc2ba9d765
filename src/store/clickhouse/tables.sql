-- Lines of imported logs. Source, quarter and id identify a row. If it is imported again, it counts once: in its newest
-- version, or its first if the source has no versions. A version in another quarter leaves a row of type `moved` behind.
-- A partition is a day.
CREATE TABLE IF NOT EXISTS usage_events (
  source LowCardinality(String),
  id String,
  at_us Int64,
  quarter Int64 MATERIALIZED intDiv(at_us, 900000000),
  ingested_us Int64,
  version_us Nullable(Int64),
  wins UInt64 MATERIALIZED if(isNull(version_us), 9223372036854775807 - ingested_us, assumeNotNull(version_us)),
  type LowCardinality(String) DEFAULT 'usage',
  model LowCardinality(Nullable(String)),
  endpoint LowCardinality(Nullable(String)),
  key_fp Nullable(String),
  account Nullable(String),
  outcome LowCardinality(String),
  status Nullable(Int32),
  error_code LowCardinality(Nullable(String)),
  credits Nullable(Decimal(38, 18)),
  unit LowCardinality(String) DEFAULT 'credits',
  /* tokens */
  requests Int64,
  priced_by LowCardinality(Nullable(String))
) ENGINE = ReplacingMergeTree(wins)
PARTITION BY intDiv(at_us, 86400000000) ORDER BY (source, quarter, id);
-- The newest statement of each interval and dimensions (see usage_buckets in src/store/schema.sql).
CREATE TABLE IF NOT EXISTS usage_buckets (
  source LowCardinality(String),
  id String,
  statement Int64,
  ingested_us Int64,
  start_us Int64,
  end_us Int64,
  covers_from_us Int64,
  covers_to_us Int64,
  dimensions String,
  measures LowCardinality(String),
  model LowCardinality(Nullable(String)),
  endpoint LowCardinality(Nullable(String)),
  key_fp Nullable(String),
  account Nullable(String),
  outcome LowCardinality(String),
  credits Nullable(Decimal(38, 18)),
  unit LowCardinality(String),
  requests Nullable(Int64),
  /* tokens */
  priced_by LowCardinality(Nullable(String)),
  counts Bool,
  has_costs Bool,
  written_us Int64
) ENGINE = ReplacingMergeTree(written_us) ORDER BY (source, id);
-- Negative amounts whose request was not known when they came (see src/store/schema.sql).
CREATE TABLE IF NOT EXISTS usage_referrals (
  source LowCardinality(String),
  id String,
  refers_to String
) ENGINE = ReplacingMergeTree ORDER BY (source, id);
-- The interval of each import, and whether it was a part of a log.
CREATE TABLE IF NOT EXISTS usage_import_spans (
  source LowCardinality(String),
  imported_us Int64,
  from_us Int64,
  to_us Int64,
  is_partial Bool
) ENGINE = ReplacingMergeTree ORDER BY (source, imported_us);
-- Closed days, as quarters of an hour (docs/usage.md). Closing a day again replaces its sums.
CREATE TABLE IF NOT EXISTS usage_quarters (
  source LowCardinality(String),
  quarter Int64,
  width_us Int64,
  key_fp Nullable(String),
  account Nullable(String),
  model LowCardinality(Nullable(String)),
  endpoint LowCardinality(Nullable(String)),
  outcome LowCardinality(String),
  status Nullable(Int32),
  error_code LowCardinality(Nullable(String)),
  unit LowCardinality(String),
  /* sums */
  closed_us Int64 DEFAULT toUnixTimestamp64Micro(now64(6))
) ENGINE = ReplacingMergeTree(closed_us)
PARTITION BY intDiv(quarter, 96)
ORDER BY (source, quarter, width_us, key_fp, account, model, endpoint, outcome, status, error_code, unit)
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
