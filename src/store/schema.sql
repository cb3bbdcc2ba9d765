-- The store: one DuckDB file, readable by any DuckDB client.
-- Times of attempts are microseconds since their run began, on one monotonic clock;
-- runs.started_at anchors that clock to the wall. Nothing derived is stored: see the views.

CREATE TABLE IF NOT EXISTS store_version (version INTEGER NOT NULL);

CREATE TABLE IF NOT EXISTS runs (
  run_id VARCHAR PRIMARY KEY,
  kind VARCHAR NOT NULL,                -- run, probe or calibrate
  scenario VARCHAR NOT NULL,            -- its name
  scenario_json VARCHAR NOT NULL,       -- as checked and frozen
  seed BIGINT NOT NULL,
  base_url VARCHAR NOT NULL,            -- without credentials
  contract VARCHAR NOT NULL,            -- name of the contract
  started_at TIMESTAMP NOT NULL,        -- UTC; microsecond 0 of the run's clock
  ended_us BIGINT,                      -- null while it runs, and after a kill
  time_scale DOUBLE NOT NULL,           -- seconds of the service's time in one of ours
  assay_version VARCHAR NOT NULL,
  machine_json VARCHAR NOT NULL,        -- cores, memory, platform, Node
  ledger_json VARCHAR,                  -- planned, sent, not_sent, and each outcome
  verdict VARCHAR,                      -- valid, degraded or invalid
  verdict_json VARCHAR                  -- each test with its figure and remedy
);

CREATE TABLE IF NOT EXISTS attempts (
  -- Which attempt
  run_id VARCHAR NOT NULL,
  slot BIGINT NOT NULL,
  retry INTEGER NOT NULL,
  shard INTEGER NOT NULL,
  phase VARCHAR NOT NULL,
  part VARCHAR NOT NULL,
  step VARCHAR NOT NULL,
  session INTEGER,
  turn INTEGER,
  template INTEGER,
  key_fp VARCHAR,
  account VARCHAR,
  -- What was asked
  endpoint VARCHAR NOT NULL,
  streamed INTEGER NOT NULL,
  model VARCHAR,
  expects VARCHAR NOT NULL,
  -- When: one monotonic clock for all threads of a run
  intended_us BIGINT NOT NULL,
  dispatched_us BIGINT,
  sent_us BIGINT,
  headers_us BIGINT,
  first_event_us BIGINT,
  first_content_us BIGINT,
  last_content_us BIGINT,
  done_us BIGINT,
  closed_us BIGINT,
  -- How it ended
  outcome VARCHAR NOT NULL,
  reason VARCHAR,
  status INTEGER,
  error_shape VARCHAR,
  error_code VARCHAR,
  error_type VARCHAR,
  -- What the headers said
  credits_remaining DOUBLE,
  rate_limit DOUBLE,
  rate_remaining DOUBLE,
  rate_reset DOUBLE,
  retry_after DOUBLE,
  date_s BIGINT,
  -- What the body said
  response_id VARCHAR,
  response_model VARCHAR,
  finish_reason VARCHAR,
  choices INTEGER,
  prompt_tokens INTEGER,
  completion_tokens INTEGER,
  total_tokens INTEGER,
  events INTEGER NOT NULL,
  content_events INTEGER NOT NULL,
  content_reads INTEGER NOT NULL,
  done_marks INTEGER NOT NULL,
  itl_max_us DOUBLE,
  bytes_in BIGINT NOT NULL,
  flags UINTEGER NOT NULL
);

-- What was asked, once for each distinct request.
CREATE TABLE IF NOT EXISTS templates (
  run_id VARCHAR NOT NULL,
  template INTEGER NOT NULL,
  step VARCHAR NOT NULL,
  method VARCHAR NOT NULL,
  path VARCHAR NOT NULL,
  headers VARCHAR NOT NULL,
  body VARCHAR,
  max_tokens INTEGER,
  n INTEGER,
  prompt_hash VARCHAR
);

-- What came back, where the scenario asks to capture it.
CREATE TABLE IF NOT EXISTS bodies (
  run_id VARCHAR NOT NULL,
  slot BIGINT NOT NULL,
  retry INTEGER NOT NULL,
  headers VARCHAR NOT NULL,
  body VARCHAR NOT NULL,
  truncated BOOLEAN NOT NULL
);

-- HDR histograms (microseconds, 3 significant digits), one for each step, metric and interval.
-- They merge exactly across threads and machines; averages of percentiles do not.
CREATE TABLE IF NOT EXISTS histograms (
  run_id VARCHAR NOT NULL,
  phase VARCHAR NOT NULL,
  part VARCHAR NOT NULL,
  step VARCHAR NOT NULL,
  metric VARCHAR NOT NULL,              -- service, response, ttft, itl; failed_service, failed_response
  interval_us BIGINT NOT NULL,          -- where the interval begins
  interval_length_us BIGINT NOT NULL,
  samples BIGINT NOT NULL,
  hdr BLOB NOT NULL                     -- HdrHistogram V2, deflated
);

-- The client's own health, one row for each thread and second.
CREATE TABLE IF NOT EXISTS health (
  run_id VARCHAR NOT NULL,
  shard INTEGER NOT NULL,               -- sending thread; -1 is the recorder
  at_us BIGINT NOT NULL,
  loop_delay_p99_us DOUBLE NOT NULL,
  utilisation DOUBLE NOT NULL,          -- 0 to 1, of the thread's event loop
  lag_p99_us DOUBLE,                    -- dispatched - intended; null without a request
  in_flight INTEGER NOT NULL,
  queued_batches INTEGER NOT NULL
);

CREATE TABLE IF NOT EXISTS findings (
  audit_id VARCHAR NOT NULL,
  audited_at TIMESTAMP NOT NULL,        -- UTC
  run_ids VARCHAR[] NOT NULL,
  rule VARCHAR NOT NULL,
  severity VARCHAR NOT NULL,            -- must, derived or advice
  verdict VARCHAR NOT NULL,             -- pass, fail, inconclusive or not-observed
  observations BIGINT NOT NULL,
  says VARCHAR NOT NULL,
  detail_json VARCHAR NOT NULL          -- the verdict whole, with its witnesses
);

-- Every derived time, defined once (microseconds; null where a stamp is missing).
CREATE OR REPLACE VIEW attempt_times AS
SELECT
  attempts.*,
  dispatched_us - intended_us AS lag_us,
  sent_us - dispatched_us AS pool_wait_us,
  done_us - sent_us AS service_us,
  done_us - intended_us AS response_us,
  first_content_us - sent_us AS ttft_us,
  first_content_us - intended_us AS response_ttft_us,
  CASE WHEN completion_tokens >= 2
       THEN (last_content_us - first_content_us) / (completion_tokens - 1) END AS tpot_us,
  runs.started_at + to_microseconds(intended_us) AS intended_at,
  runs.started_at + to_microseconds(coalesce(closed_us, intended_us)) AS closed_at,
  runs.time_scale
FROM attempts JOIN runs USING (run_id);

-- The bits of attempts.flags, spelled out.
CREATE OR REPLACE VIEW attempt_flags AS
SELECT
  run_id, slot, retry,
  (flags & 1) <> 0 AS reused_connection,
  (flags & 2) <> 0 AS malformed_credits,
  (flags & 4) <> 0 AS malformed_rate_limit,
  (flags & 8) <> 0 AS malformed_rate_remaining,
  (flags & 16) <> 0 AS malformed_rate_reset,
  (flags & 32) <> 0 AS retry_after_not_seconds,
  (flags & 64) <> 0 AS allow_origin,
  (flags & 128) <> 0 AS json_type,
  (flags & 256) <> 0 AS sse_type,
  (flags & 512) <> 0 AS not_json,
  (flags & 1024) <> 0 AS not_utf8,
  (flags & 2048) <> 0 AS after_done,
  (flags & 4096) <> 0 AS error_in_stream,
  (flags & 8192) <> 0 AS body_contradicts_status,
  (flags & 16384) <> 0 AS reasoning,
  (flags & 32768) <> 0 AS captured
FROM attempts;
