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

-- What many attempts share is kept once, and rows lie in the smallest table that holds them; the view
-- `attempts` below is what to read. How they were asked:
CREATE TABLE IF NOT EXISTS askings (
  asking INTEGER NOT NULL,
  run_id VARCHAR NOT NULL,
  retry INTEGER NOT NULL,
  shard INTEGER NOT NULL,
  phase VARCHAR NOT NULL,
  part VARCHAR NOT NULL,
  step VARCHAR NOT NULL,
  key_fp VARCHAR,
  account VARCHAR,
  endpoint VARCHAR NOT NULL,
  streamed INTEGER NOT NULL,
  model VARCHAR,
  expects VARCHAR NOT NULL
);

-- How they ended:
CREATE TABLE IF NOT EXISTS endings (
  ending INTEGER NOT NULL,
  outcome VARCHAR NOT NULL,
  reason VARCHAR,
  status INTEGER,
  error_shape VARCHAR,
  error_code VARCHAR,
  error_type VARCHAR,
  response_model VARCHAR,
  finish_reason VARCHAR,
  choices INTEGER,
  done_marks INTEGER NOT NULL,
  flags UINTEGER NOT NULL
);

-- And what is of each attempt alone, whatever it is.
CREATE TABLE IF NOT EXISTS attempt_rows (
  asking INTEGER NOT NULL,
  ending INTEGER NOT NULL,
  slot BIGINT NOT NULL,
  session INTEGER,
  turn INTEGER,
  template INTEGER,
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
  -- What the headers said
  credits_remaining DOUBLE,
  rate_limit DOUBLE,
  rate_remaining DOUBLE,
  rate_reset DOUBLE,
  retry_after DOUBLE,
  date_s BIGINT,
  -- What the body said. Packing ids, of which no two are alike, costs more than all the rest.
  response_id VARCHAR USING COMPRESSION uncompressed,
  prompt_tokens INTEGER,
  completion_tokens INTEGER,
  total_tokens INTEGER,
  events INTEGER NOT NULL,
  content_events INTEGER NOT NULL,
  content_reads INTEGER NOT NULL,
  itl_max_us DOUBLE,
  bytes_in BIGINT NOT NULL
);

-- The same in half the room, for rows whose numbers are whole and small: the other times are
-- microseconds since intended_us.
CREATE TABLE IF NOT EXISTS narrow_rows (
  response_id VARCHAR USING COMPRESSION uncompressed,
  own STRUCT(
    asking INTEGER,
    ending INTEGER,
    slot INTEGER,
    session INTEGER,
    turn INTEGER,
    template INTEGER,
    intended_us BIGINT,
    dispatched_us INTEGER,
    sent_us INTEGER,
    headers_us INTEGER,
    first_event_us INTEGER,
    first_content_us INTEGER,
    last_content_us INTEGER,
    done_us INTEGER,
    closed_us INTEGER,
    credits_remaining INTEGER,
    rate_limit INTEGER,
    rate_remaining INTEGER,
    rate_reset INTEGER,
    retry_after INTEGER,
    date_s INTEGER,
    prompt_tokens INTEGER,
    completion_tokens INTEGER,
    total_tokens INTEGER,
    events INTEGER,
    content_events INTEGER,
    content_reads INTEGER,
    itl_max_us DOUBLE,
    bytes_in INTEGER
  )
);

-- And without what only streams and conversations have.
CREATE TABLE IF NOT EXISTS plain_rows (
  response_id VARCHAR USING COMPRESSION uncompressed,
  own STRUCT(
    asking INTEGER,
    ending INTEGER,
    slot INTEGER,
    template INTEGER,
    intended_us BIGINT,
    dispatched_us INTEGER,
    sent_us INTEGER,
    headers_us INTEGER,
    done_us INTEGER,
    closed_us INTEGER,
    credits_remaining INTEGER,
    rate_limit INTEGER,
    rate_remaining INTEGER,
    rate_reset INTEGER,
    retry_after INTEGER,
    date_s INTEGER,
    prompt_tokens INTEGER,
    completion_tokens INTEGER,
    total_tokens INTEGER,
    bytes_in INTEGER
  )
);

-- Rows of the three tables in one shape.
CREATE OR REPLACE VIEW all_rows AS
SELECT
  own.asking, own.ending, own.slot::BIGINT AS slot, NULL::INTEGER AS session,
  NULL::INTEGER AS turn, own.template, own.intended_us,
  own.intended_us + own.dispatched_us AS dispatched_us, own.intended_us + own.sent_us AS sent_us,
  own.intended_us + own.headers_us AS headers_us, NULL::BIGINT AS first_event_us,
  NULL::BIGINT AS first_content_us, NULL::BIGINT AS last_content_us,
  own.intended_us + own.done_us AS done_us, own.intended_us + own.closed_us AS closed_us,
  own.credits_remaining::DOUBLE AS credits_remaining, own.rate_limit::DOUBLE AS rate_limit,
  own.rate_remaining::DOUBLE AS rate_remaining, own.rate_reset::DOUBLE AS rate_reset,
  own.retry_after::DOUBLE AS retry_after, own.date_s::BIGINT AS date_s, response_id,
  own.prompt_tokens, own.completion_tokens, own.total_tokens, 0 AS events, 0 AS content_events,
  0 AS content_reads, NULL::DOUBLE AS itl_max_us, own.bytes_in::BIGINT AS bytes_in
FROM plain_rows
UNION ALL
SELECT
  own.asking, own.ending, own.slot::BIGINT AS slot, own.session, own.turn, own.template,
  own.intended_us, own.intended_us + own.dispatched_us AS dispatched_us,
  own.intended_us + own.sent_us AS sent_us, own.intended_us + own.headers_us AS headers_us,
  own.intended_us + own.first_event_us AS first_event_us,
  own.intended_us + own.first_content_us AS first_content_us,
  own.intended_us + own.last_content_us AS last_content_us,
  own.intended_us + own.done_us AS done_us, own.intended_us + own.closed_us AS closed_us,
  own.credits_remaining::DOUBLE AS credits_remaining, own.rate_limit::DOUBLE AS rate_limit,
  own.rate_remaining::DOUBLE AS rate_remaining, own.rate_reset::DOUBLE AS rate_reset,
  own.retry_after::DOUBLE AS retry_after, own.date_s::BIGINT AS date_s, response_id,
  own.prompt_tokens, own.completion_tokens, own.total_tokens, own.events, own.content_events,
  own.content_reads, own.itl_max_us, own.bytes_in::BIGINT AS bytes_in
FROM narrow_rows
UNION ALL
SELECT
  asking, ending, slot, session, turn, template, intended_us, dispatched_us, sent_us, headers_us,
  first_event_us, first_content_us, last_content_us, done_us, closed_us, credits_remaining,
  rate_limit, rate_remaining, rate_reset, retry_after, date_s, response_id, prompt_tokens,
  completion_tokens, total_tokens, events, content_events, content_reads, itl_max_us, bytes_in
FROM attempt_rows;

-- One row for each HTTP attempt.
CREATE OR REPLACE VIEW attempts AS
SELECT
  -- Which attempt
  run_id, slot, retry, shard, phase, part, step, session, turn, template, key_fp, account,
  -- What was asked
  endpoint, streamed, model, expects,
  -- When
  intended_us, dispatched_us, sent_us, headers_us, first_event_us, first_content_us,
  last_content_us, done_us, closed_us,
  -- How it ended
  outcome, reason, status, error_shape, error_code, error_type,
  -- What the headers said
  credits_remaining, rate_limit, rate_remaining, rate_reset, retry_after, date_s,
  -- What the body said
  response_id, response_model, finish_reason, choices, prompt_tokens, completion_tokens,
  total_tokens, events, content_events, content_reads, done_marks, itl_max_us, bytes_in, flags
FROM all_rows JOIN askings USING (asking) JOIN endings USING (ending);

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

-- Usage logs of others, one row for each request that they tell of. A row is known by source and
-- id: importing a file again adds nothing (src/store/import keeps that, there is no index).
CREATE TABLE IF NOT EXISTS usage_events (
  source VARCHAR NOT NULL,              -- the log; ids are unique within it
  id VARCHAR NOT NULL,
  at_us BIGINT NOT NULL,                -- event time, Unix microseconds UTC
  ingested_us BIGINT NOT NULL,          -- when it was imported: late events are accepted
  import_no INTEGER NOT NULL,
  model VARCHAR,
  endpoint VARCHAR,
  key_fp VARCHAR,
  account VARCHAR,
  outcome VARCHAR NOT NULL,             -- the words of attempts.outcome
  status INTEGER,
  error_code VARCHAR,
  credits DECIMAL(18, 6),               -- null is not measured, never 0
  prompt_tokens BIGINT,
  completion_tokens BIGINT
);

CREATE TABLE IF NOT EXISTS usage_imports (
  import_no INTEGER NOT NULL,
  source VARCHAR NOT NULL,
  file VARCHAR NOT NULL,
  format VARCHAR NOT NULL,
  mapping_json VARCHAR NOT NULL,
  imported_us BIGINT NOT NULL,
  lines BIGINT NOT NULL,                -- lines = accepted + duplicates + rejected
  accepted BIGINT NOT NULL,
  duplicates BIGINT NOT NULL,
  rejected BIGINT NOT NULL
);

-- What the service itself says: answers of GET /user/credits. Null where it does not say.
CREATE TABLE IF NOT EXISTS usage_polls (
  polled_us BIGINT NOT NULL,            -- our clock, Unix microseconds UTC
  service_us BIGINT,                    -- its Date header
  base_url VARCHAR NOT NULL,
  key_fp VARCHAR NOT NULL,
  status INTEGER NOT NULL,
  consumed DECIMAL(18, 6),
  remaining DECIMAL(18, 6),
  requests BIGINT,
  average_tokens DOUBLE,
  grants_json VARCHAR,                  -- credits with their expiry, where it says
  body VARCHAR                          -- as it came, bounded
);

-- Price of one success, by contract: what a run's attempts should have cost.
CREATE TABLE IF NOT EXISTS model_prices (
  contract VARCHAR NOT NULL,
  model VARCHAR NOT NULL,
  credits DECIMAL(18, 6) NOT NULL,
  PRIMARY KEY (contract, model)
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

-- The clock of the service, as each run saw it: its Date header says second d while the response
-- was under way, so service time - scaled run time lies in [lower, upper].
CREATE OR REPLACE VIEW run_clocks AS
SELECT
  run_id, contract, time_scale,
  epoch_us(started_at) AS started_us,
  coalesce((lower_us + upper_us) // 2, epoch_us(started_at)) AS service_start_us,
  (lower_us + upper_us) // 2 - epoch_us(started_at) AS offset_us,  -- null without a Date header
  (upper_us - lower_us) // 2 AS offset_error_us                    -- negative when it was moved
FROM runs LEFT JOIN (
  SELECT
    run_id,
    max(date_s * 1000000 - (headers_us * time_scale)::BIGINT) AS lower_us,
    min(date_s * 1000000 + 1000000 - (sent_us * time_scale)::BIGINT) AS upper_us
  FROM attempts JOIN runs USING (run_id)
  WHERE date_s IS NOT NULL AND headers_us IS NOT NULL AND sent_us IS NOT NULL
  GROUP BY run_id
) USING (run_id);

-- Every request that reached a service, from runs and from imported logs, in one shape.
-- Time is the service's own: its Date header (plus the length of a stream, since the charge comes
-- at its end), else the run's clock with the estimated offset.
-- credits: surely charged (null: not measured); possible_credits: what it can have cost at most.
CREATE OR REPLACE VIEW usage AS
SELECT
  'import' AS origin, source, id, at_us, model, endpoint, key_fp, account, outcome, status,
  error_code, credits, credits AS possible_credits, prompt_tokens, completion_tokens
FROM usage_events
UNION ALL
SELECT
  'run' AS origin, run_id AS source, slot::VARCHAR || '.' || retry::VARCHAR AS id,
  CASE WHEN date_s IS NOT NULL
       THEN date_s * 1000000 + CASE WHEN streamed = 1 AND closed_us > headers_us
              THEN ((closed_us - headers_us) * time_scale)::BIGINT ELSE 0 END
       ELSE service_start_us + (coalesce(closed_us, intended_us) * time_scale)::BIGINT END AS at_us,
  attempts.model, endpoint, key_fp, account, outcome, status, error_code,
  CASE outcome WHEN 'ok' THEN model_prices.credits WHEN 'http_error' THEN 0 END AS credits,
  CASE outcome WHEN 'http_error' THEN 0 ELSE model_prices.credits END AS possible_credits,
  prompt_tokens::BIGINT AS prompt_tokens, completion_tokens::BIGINT AS completion_tokens
FROM attempts
JOIN run_clocks USING (run_id)
LEFT JOIN model_prices
  ON model_prices.contract = run_clocks.contract
 AND model_prices.model = coalesce(attempts.model, attempts.response_model)
WHERE sent_us IS NOT NULL AND outcome <> 'not_sent' AND endpoint IN ('chat', 'messages');
