-- The store: one DuckDB file, readable by any DuckDB client.
-- Times of attempts are microseconds since their run began, on one monotonic clock;
-- runs.started_at anchors that clock to the wall. Nothing derived is stored: see the views.
-- The tables of attempts and the views `attempts` and `attempt_flags` come from attempt-tables.ts,
-- the views of their measures from src/measure/measures.ts.

CREATE TABLE store_version (version INTEGER NOT NULL);

-- The journal of a killed run that was taken in last.
CREATE TABLE recovered_journals (id VARCHAR NOT NULL);

CREATE TABLE runs (
  run_id VARCHAR PRIMARY KEY,
  kind VARCHAR NOT NULL,                -- run, probe, calibrate or import
  scenario VARCHAR NOT NULL,            -- its name
  scenario_json VARCHAR NOT NULL,       -- as checked and frozen
  seed BIGINT NOT NULL,
  base_url VARCHAR NOT NULL,            -- without credentials
  contract VARCHAR NOT NULL,            -- name of the contract
  started_at TIMESTAMP NOT NULL,        -- UTC; microsecond 0 of the run's clock
  ended_us BIGINT,                      -- null during the run, and after a kill
  time_scale DOUBLE NOT NULL,           -- seconds of service time per second
  assay_version VARCHAR NOT NULL,
  machine_json VARCHAR NOT NULL,        -- cores, memory, platform, Node
  attempt_counts_json VARCHAR,        -- planned, sent, not_sent, and each outcome
  verdict VARCHAR,                      -- valid, degraded or invalid
  verdict_json VARCHAR                  -- each test with its figure and remedy
);

-- The distinct requests of each run.
CREATE TABLE templates (
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

-- What the headers of a request say of it (`tags` of a scenario: a name, and the header that has its value).
CREATE VIEW run_tags AS
SELECT run_id, template, to_json(map_from_entries(list(ROW(name, value) ORDER BY name)))::VARCHAR AS tags
FROM (
  SELECT
    run_id, template, named.key AS name, header.value ->> '$' AS value
  FROM templates JOIN runs USING (run_id), json_each(scenario_json, '$.tags') AS named,
    json_each(templates.headers) AS header
  WHERE lower(header.key) = lower(named.value ->> '$'))
WHERE value <> ''
GROUP BY run_id, template;

-- The captured bodies of responses, if the scenario asks for them.
CREATE TABLE bodies (
  run_id VARCHAR NOT NULL,
  slot BIGINT NOT NULL,
  retry INTEGER NOT NULL,
  headers VARCHAR NOT NULL,
  body VARCHAR,                         -- null if it is long and packed in the file next to the store
  truncated BOOLEAN NOT NULL,
  packed_at BIGINT                      -- its position in that file (packed-bodies.ts); else null
);

-- The first answers of each phase and thread that are not what their step expects, or could not be checked.
CREATE TABLE wrong_answers (
  run_id VARCHAR NOT NULL,
  slot BIGINT NOT NULL,
  retry INTEGER NOT NULL,
  why VARCHAR NOT NULL,                 -- what the answer lacks
  answer VARCHAR NOT NULL               -- its text or tool calls, cut, without keys
);

-- The tasks of agents: several requests that wait for each other.
CREATE TABLE tasks (
  run_id VARCHAR NOT NULL,
  session INTEGER NOT NULL,             -- attempts.session of its requests
  task VARCHAR NOT NULL,                -- its name in the scenario
  phase VARCHAR NOT NULL,
  part VARCHAR NOT NULL,
  intended_us BIGINT NOT NULL,          -- its planned start
  ended_us BIGINT NOT NULL,             -- end of its last request, or when its deadline cut it off
  outcome VARCHAR NOT NULL,             -- ok, failed, deadline, or stopped with the run
  requests INTEGER NOT NULL,            -- that ended
  skipped INTEGER NOT NULL DEFAULT 0,   -- requests before it, if it started in its middle
  wait_us BIGINT NOT NULL               -- delays on the path of requests that decided when it ended
);

-- HDR histograms (microseconds, 3 significant digits), one for each step, metric and interval.
-- They merge exactly across threads and machines; averages of percentiles do not.
CREATE TABLE histograms (
  run_id VARCHAR NOT NULL,
  phase VARCHAR NOT NULL,
  part VARCHAR NOT NULL,
  step VARCHAR NOT NULL,
  metric VARCHAR NOT NULL,              -- service, response, ttft, itl; failed_service, failed_response
  interval_us BIGINT NOT NULL,          -- start of the interval
  interval_length_us BIGINT NOT NULL,
  samples BIGINT NOT NULL,
  hdr BLOB NOT NULL                     -- HdrHistogram V2, deflated
);

-- Gaps between tokens from another tool, exactly as its histogram has them.
CREATE TABLE imported_gaps (
  run_id VARCHAR NOT NULL,
  part VARCHAR NOT NULL,
  step VARCHAR NOT NULL,
  gap_us DOUBLE NOT NULL
);

-- The client's own health, one row for each thread and second.
CREATE TABLE health (
  run_id VARCHAR NOT NULL,
  shard INTEGER NOT NULL,               -- sending thread; -1 is the recorder
  at_us BIGINT NOT NULL,
  loop_delay_p99_us DOUBLE NOT NULL,
  loop_gap_us DOUBLE NOT NULL,          -- the longest time for which the event loop did not run
  loop_gap_end_us BIGINT,               -- end of that gap; null without one, and for the recorder
  utilisation DOUBLE NOT NULL,          -- 0 to 1, of the thread's event loop
  lag_p99_us DOUBLE,                    -- dispatched - intended; null without a request
  in_flight INTEGER NOT NULL,
  queued_batches INTEGER NOT NULL
);

-- The service's own metrics, as it exposed them during a run (src/exporter): raw values, never differences.
CREATE TABLE metric_sources (
  run_id VARCHAR NOT NULL,
  source INTEGER NOT NULL,
  url VARCHAR NOT NULL,                 -- without credentials
  kind VARCHAR,                         -- vLLM, SGLang, …; null for a service that is not known
  found_by VARCHAR NOT NULL,            -- auto or given
  every_us BIGINT NOT NULL
);

-- Each look at a source: at the borders of phases, and in between.
CREATE TABLE metric_scrapes (
  run_id VARCHAR NOT NULL,
  source INTEGER NOT NULL,
  at_us BIGINT NOT NULL,                -- the middle of the look, on the run's clock
  took_us BIGINT,                       -- null without an answer
  bytes BIGINT,
  border VARCHAR,                       -- what asked for it: start, a phase, end; null for a regular look
  reason VARCHAR                        -- why there was no answer; null with one
);

CREATE TABLE metric_series (
  run_id VARCHAR NOT NULL,
  series INTEGER NOT NULL,
  source INTEGER NOT NULL,
  name VARCHAR NOT NULL,                -- as exposed: a histogram has …_bucket, …_sum and …_count
  family VARCHAR NOT NULL,              -- without _total
  type VARCHAR NOT NULL,                -- counter, gauge, histogram, summary or untyped
  labels VARCHAR NOT NULL               -- JSON, sorted by name
);

-- A value where it differs from the one before. A counter that appears late was 0 at the first look.
CREATE TABLE metric_points (
  run_id VARCHAR NOT NULL,
  series INTEGER NOT NULL,
  at_us BIGINT NOT NULL,
  value DOUBLE NOT NULL
);

CREATE TABLE findings (
  audit_id VARCHAR NOT NULL,
  audited_at TIMESTAMP NOT NULL,        -- UTC
  run_ids VARCHAR[] NOT NULL,
  rule VARCHAR NOT NULL,
  severity VARCHAR NOT NULL,            -- must, derived or advice
  verdict VARCHAR NOT NULL,             -- pass, fail, inconclusive, not-observed or not-promised
  observations BIGINT NOT NULL,
  title VARCHAR NOT NULL,              -- the promise
  detail_json VARCHAR NOT NULL          -- the complete verdict, with its witnesses
);

-- Lines of imported usage logs: requests, and signed entries of a ledger. Source and id identify a row, so
-- importing a file twice adds nothing (src/store/import ensures that; there is no index). `empty-store.ts` adds the kinds of tokens.
CREATE TABLE usage_events (
  source VARCHAR NOT NULL,              -- the service that wrote the log; ids are unique within it
  id VARCHAR NOT NULL,                  -- its own, or a hash of the content and a number for equal lines
  at_us BIGINT NOT NULL,                -- event time, Unix microseconds UTC
  ingested_us BIGINT NOT NULL,          -- when it was imported: late events are accepted
  import_no INTEGER NOT NULL,
  model VARCHAR,
  endpoint VARCHAR,
  key_fp VARCHAR,
  account VARCHAR,
  outcome usage_outcome NOT NULL,       -- the same values as attempts.outcome
  status INTEGER,
  error_code VARCHAR,
  credits DECIMAL(18, 6),               -- amount of `unit`; null means not measured, never 0;
                                        -- DECIMAL(38, 18) once a log needs it
  requests BIGINT NOT NULL DEFAULT 1,   -- the number of requests that the row stands for; 0 for other types
  ttft_us BIGINT,
  latency_us BIGINT,
  type usage_type NOT NULL DEFAULT 'usage', -- a word of src/store/import/entry-types.ts
  unit VARCHAR NOT NULL DEFAULT 'credits',  -- ISO 4217, or a name
  version_us BIGINT,                    -- when the source last changed the row; the newest version counts
  priced_by VARCHAR,                    -- the contract whose prices gave the credits; null: as logged
  tags VARCHAR,                         -- own dimensions: a JSON object of texts, sorted by name; null: none
  terms VARCHAR                         -- what a grant, a purchase, a gift or an expiry says of its credits: a JSON object of
                                        -- name, expiresUs, priority, models, refersTo; null: nothing
);

-- Sums over an interval, as a provider reports them. A newer statement about the same interval and dimensions
-- replaces an older one; see the view usage_buckets.
CREATE TABLE usage_statements (
  source VARCHAR NOT NULL,
  id VARCHAR NOT NULL,                  -- start, end and the values of its dimensions
  statement INTEGER NOT NULL,           -- number of the import
  ingested_us BIGINT NOT NULL,
  start_us BIGINT NOT NULL,
  end_us BIGINT NOT NULL,               -- exclusive
  dimensions VARCHAR NOT NULL,          -- what the export was grouped by: 'api_key_id,model'
  measures VARCHAR NOT NULL,            -- usage, costs alone, or charges of a bill, which are disjoint
  model VARCHAR,
  endpoint VARCHAR,
  key_fp VARCHAR,
  account VARCHAR,
  outcome VARCHAR NOT NULL,
  credits DECIMAL(38, 18),
  unit VARCHAR NOT NULL,
  requests BIGINT,                      -- null: not reported
  priced_by VARCHAR,                    -- the contract whose prices gave the credits; null: as reported
  tags VARCHAR                          -- as those of usage_events
);

-- Statements that replaced others with other figures.
CREATE TABLE usage_changes (
  changed_us BIGINT NOT NULL,
  import_no INTEGER NOT NULL,
  source VARCHAR NOT NULL,
  id VARCHAR NOT NULL,
  start_us BIGINT NOT NULL,
  end_us BIGINT NOT NULL,
  model VARCHAR,
  requests_before BIGINT,
  requests_after BIGINT,
  credits_before DECIMAL(38, 18),
  credits_after DECIMAL(38, 18),
  tokens_before BIGINT,                 -- input and output
  tokens_after BIGINT
);

CREATE TABLE usage_imports (
  import_no INTEGER NOT NULL,
  source VARCHAR NOT NULL,
  file VARCHAR NOT NULL,
  format VARCHAR NOT NULL,
  mapping_json VARCHAR NOT NULL,
  imported_us BIGINT NOT NULL,
  lines BIGINT NOT NULL,                -- lines = accepted + duplicates + rejected
  accepted BIGINT NOT NULL,
  duplicates BIGINT NOT NULL,
  rejected BIGINT NOT NULL,
  from_us BIGINT,                       -- what the file covers; null without a line
  to_us BIGINT,
  is_partial BOOLEAN NOT NULL           -- its end is missing
);

-- UTC days with events of a source: there, its statements do not count.
CREATE TABLE usage_event_days (source VARCHAR NOT NULL, day BIGINT NOT NULL, PRIMARY KEY (source, day));

-- Negative amounts whose request is not known yet: adjustments, which become its refunds once it is imported.
CREATE TABLE usage_referrals (
  source VARCHAR NOT NULL,
  id VARCHAR NOT NULL,                  -- of the amount
  refers_to VARCHAR NOT NULL            -- the id of the request
);

-- The service's own figures: responses of GET /user/credits. Missing figures are null.
CREATE TABLE usage_polls (
  polled_us BIGINT NOT NULL,            -- our clock, Unix microseconds UTC
  service_us BIGINT,                    -- its Date header
  base_url VARCHAR NOT NULL,
  key_fp VARCHAR NOT NULL,
  status INTEGER NOT NULL,
  consumed DECIMAL(18, 6),
  remaining DECIMAL(18, 6),
  requests BIGINT,
  average_tokens DOUBLE,
  grants_json VARCHAR,                  -- credits with their expiry, if shown
  body VARCHAR                          -- as received, up to a limit
);

-- Price of one success in each contract: what a run's attempts should cost.
CREATE TABLE model_prices (
  contract VARCHAR NOT NULL,
  model VARCHAR NOT NULL,
  credits DECIMAL(18, 6) NOT NULL,
  PRIMARY KEY (contract, model)
);
