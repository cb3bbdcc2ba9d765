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
-- importing a file twice adds nothing (src/store/import ensures that; there is no index).
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
  prompt_tokens BIGINT,                 -- all input; sum over all requests of the row, like credits
  cached_tokens BIGINT,                 -- of the input: read from a cache
  completion_tokens BIGINT,             -- all output
  requests BIGINT NOT NULL DEFAULT 1,   -- the number of requests that the row stands for; 0 for other types
  ttft_us BIGINT,
  latency_us BIGINT,
  type usage_type NOT NULL DEFAULT 'usage', -- a word of src/store/import/entry-types.ts
  unit VARCHAR NOT NULL DEFAULT 'credits',  -- ISO 4217, or a name
  cache_write_tokens BIGINT,            -- of the input: written to a cache
  cache_write_1h_tokens BIGINT,         -- of those: for an hour
  reasoning_tokens BIGINT,              -- of the output
  version_us BIGINT,                    -- when the source last changed the row; the newest version counts
  priced_by VARCHAR,                    -- the contract whose prices gave the credits; null: as logged
  tags VARCHAR                          -- own dimensions: a JSON object of texts, sorted by name; null: none
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
  prompt_tokens BIGINT,
  cached_tokens BIGINT,
  cache_write_tokens BIGINT,
  cache_write_1h_tokens BIGINT,
  completion_tokens BIGINT,
  reasoning_tokens BIGINT,
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

-- The clock of the service, as each run saw it. A response whose Date header is second d allows an interval of
-- offsets: service time - scaled run time lies in [d - headers, d + 1 s - sent]. A Date header can be wrong. So more
-- than half of the responses, and at least two, must agree with the median response, to two seconds plus a thousandth
-- of the run. The offset must be within 31 days, scaled, of our own clock. Otherwise it is unknown, and the run's own
-- clock counts.
CREATE OR REPLACE VIEW run_clocks AS
WITH dated AS (
  -- Responses of the same second form one piece of evidence, weighted by their number.
  SELECT
    run_id, date_s, count(*) AS n,
    date_s * 1000000::DOUBLE - min(headers_us) * any_value(time_scale) AS lower_us,
    date_s * 1000000::DOUBLE + 1000000 - max(sent_us) * any_value(time_scale) AS upper_us,
    max(headers_us) * any_value(time_scale) AS until_us
  FROM attempts JOIN runs USING (run_id)
  WHERE date_s IS NOT NULL AND headers_us IS NOT NULL AND sent_us IS NOT NULL
  GROUP BY run_id, date_s
), ranked AS (
  SELECT
    *, sum(n) OVER (PARTITION BY run_id ORDER BY lower_us + upper_us, date_s) AS rank,
    sum(n) OVER (PARTITION BY run_id) AS answers,
    2e6 + max(until_us) OVER (PARTITION BY run_id) / 1000 AS slack_us
  FROM dated
), medians AS (
  SELECT run_id, arg_min(lower_us, rank) AS lower_us, arg_min(upper_us, rank) AS upper_us
  FROM ranked WHERE 2 * rank >= answers GROUP BY run_id
), agreed AS (
  SELECT run_id, max(ranked.lower_us) AS lower_us, min(ranked.upper_us) AS upper_us
  FROM ranked JOIN medians USING (run_id)
  WHERE ranked.lower_us <= medians.upper_us + slack_us
    AND ranked.upper_us >= medians.lower_us - slack_us
  GROUP BY run_id HAVING sum(n) >= 2 AND 2 * sum(n) > any_value(answers)
)
SELECT
  run_id, contract, time_scale,
  epoch_us(started_at) AS started_us,
  coalesce(((lower_us + upper_us) / 2)::BIGINT, epoch_us(started_at)) AS service_start_us,
  ((lower_us + upper_us) / 2)::BIGINT - epoch_us(started_at) AS offset_us,  -- null if unknown
  ((upper_us - lower_us) / 2)::BIGINT AS offset_error_us                    -- negative if the service's clock was moved
FROM runs LEFT JOIN (
  SELECT agreed.* FROM agreed JOIN runs USING (run_id)
  WHERE abs((lower_us + upper_us) / 2 - epoch_us(started_at)) <= 31 * 86400e6 * greatest(1, time_scale)
) USING (run_id);

-- Polls on the service's time: our clock plus the median offset of that service's polls. In scaled time (which the
-- service's runs know) it is the Date header itself. Either is within 31 days of our clock, as for runs.
CREATE OR REPLACE VIEW poll_times AS
SELECT
  polls.*,
  CASE WHEN scale = 1 THEN polled_us + coalesce(median_us, 0)
       WHEN abs(offset_us) <= 31 * 86400e6 * scale THEN service_us
       ELSE polled_us END::BIGINT AS at_us
FROM (
  SELECT
    *, service_us - polled_us AS offset_us,
    coalesce((SELECT max(time_scale) FROM runs WHERE runs.base_url = usage_polls.base_url), 1) AS scale,
    median(service_us - polled_us) FILTER (WHERE abs(service_us - polled_us) <= 31 * 86400e6)
      OVER (PARTITION BY base_url) AS median_us
  FROM usage_polls
) AS polls;

-- The newest statement of each interval and dimensions, and which of them count. Events of the same source and UTC
-- day come first. Of two sets of dimensions or widths, the finest that covers an interval counts alone. Charges of a bill
-- are disjoint, whatever their width: each counts.
CREATE OR REPLACE VIEW usage_buckets AS
WITH newest AS (
  SELECT * FROM usage_statements
  QUALIFY row_number() OVER (PARTITION BY source, id ORDER BY statement DESC) = 1
), ranked AS (
  -- Days, weeks, months, quarters and years differ by hours or days, and are one width.
  SELECT
    *, end_us - start_us AS width_us,
    CASE WHEN width_us BETWEEN 82800000000 AND 90000000000 THEN 86400000000
         WHEN width_us BETWEEN 601200000000 AND 608400000000 THEN 604800000000
         WHEN width_us BETWEEN 2415600000000 AND 2682000000000 THEN 2592000000000
         WHEN width_us BETWEEN 7772400000000 AND 7952400000000 THEN 7862400000000
         WHEN width_us BETWEEN 31532400000000 AND 31626000000000 THEN 31536000000000
         ELSE width_us END AS even_us,
    dense_rank() OVER (
      PARTITION BY source, measures
      ORDER BY even_us, -len(string_split(dimensions, ',')),
        NOT list_contains(string_split(dimensions, ','), 'model'), dimensions) AS place,
    min(even_us) OVER (PARTITION BY source, measures, statement)
      = max(even_us) OVER (PARTITION BY source, measures, statement) AS is_even
  FROM newest
), covers AS (
  -- An export leaves out what is 0, so it covers its whole time; but one with sums of several widths only those.
  SELECT
    source, measures, place, from_us, to_us,
    max(to_us) OVER (PARTITION BY source, measures, place ORDER BY from_us, to_us
                     ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached_us
  FROM (
    SELECT
      ranked.source, measures, place, CASE WHEN is_even THEN from_us ELSE start_us END AS from_us,
      CASE WHEN is_even THEN to_us ELSE end_us END AS to_us
    FROM ranked JOIN usage_imports ON import_no = statement GROUP BY ALL)
), islands AS (
  SELECT source, measures, place, min(from_us) AS from_us, max(to_us) AS to_us
  FROM (
    SELECT *, sum((reached_us IS NULL OR from_us > reached_us)::INTEGER) OVER (
      PARTITION BY source, measures, place ORDER BY from_us, to_us) AS island
    FROM covers)
  GROUP BY source, measures, place, island
), chosen AS (
  SELECT
    * EXCLUDE (even_us),
    measures <> 'costs' AND EXISTS (
      FROM usage_event_days AS days
      WHERE days.source = ranked.source AND day >= start_us // 86400000000
        AND day * 86400000000 < end_us) AS has_events,
    measures <> 'charges' AND EXISTS (
      FROM islands AS finer
      WHERE finer.source = ranked.source AND finer.measures = ranked.measures AND finer.place < ranked.place
        AND finer.from_us <= start_us AND finer.to_us >= end_us) AS is_covered
  FROM ranked
)
SELECT
  chosen.* EXCLUDE (is_even),
  CASE WHEN has_events THEN 'events' WHEN is_covered THEN 'finer'
       WHEN measures <> 'charges' AND EXISTS (
         FROM chosen AS coarser
         WHERE coarser.source = chosen.source AND coarser.measures = chosen.measures
           AND coarser.place > chosen.place AND NOT coarser.has_events AND NOT coarser.is_covered
           AND coarser.start_us < chosen.end_us AND coarser.end_us > chosen.start_us) THEN 'wider'
  END AS replaced_by  -- null: it counts
FROM chosen;
