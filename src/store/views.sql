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
