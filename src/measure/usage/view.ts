import { generatesSql } from '../../contract/request.ts'
import { tokenColumns, tokensOfAttemptSql } from './quantities.ts'

/**
 * The view `usage`: every request that reached a service, from runs and from imported logs, in one shape; and refunds, with 0 requests.
 *
 * Time is the service's own: the run's clock plus the service's offset. A request is charged when its response ends.
 * `credits` are charged for certain (null: not measured); `possible_credits` are the most that it can have cost.
 */
export const usageViewSql = `CREATE OR REPLACE VIEW usage AS
SELECT
  'import' AS origin, source, id, at_us, model, endpoint, key_fp, account, tags, outcome, status,
  error_code, credits, credits AS possible_credits, ${tokenColumns.join(', ')}, requests,
  ttft_us, latency_us, type, unit, priced_by
FROM usage_events WHERE type IN ('usage', 'refund')
UNION ALL BY NAME
SELECT
  'run' AS origin, run_id AS source, slot::VARCHAR || '.' || retry::VARCHAR AS id,
  service_start_us + (coalesce(closed_us, intended_us) * time_scale)::BIGINT AS at_us,
  attempts.model, endpoint, key_fp, account, run_tags.tags, outcome, status, error_code,
  CASE outcome WHEN 'ok' THEN model_prices.credits WHEN 'http_error' THEN 0 END AS credits,
  CASE outcome WHEN 'http_error' THEN 0 ELSE model_prices.credits END AS possible_credits,
  ${tokensOfAttemptSql},
  1 AS requests, NULL AS ttft_us, NULL AS latency_us,  -- for runs, see attempt_times
  'usage' AS type, 'credits' AS unit, NULL AS priced_by
FROM attempts
JOIN run_clocks USING (run_id)
LEFT JOIN run_tags USING (run_id, template)
LEFT JOIN model_prices
  ON model_prices.contract = run_clocks.contract
 AND model_prices.model = coalesce(attempts.model, attempts.response_model)
WHERE sent_us IS NOT NULL AND outcome <> 'not_sent' AND ${generatesSql}`
