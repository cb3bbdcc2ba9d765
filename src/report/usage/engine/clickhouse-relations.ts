import {
  clickhouseSql as dialect,
  quantities,
  requestColumns,
  statedColumns,
  tokenColumns,
} from '../../../measure/usage/quantities.ts'
import { type AccountScope, accountCondition } from '../../../store/session/account.ts'
import { queryText } from './engine.ts'

/** The relations of the queries in ClickHouse: sums of closed days, requests of open days, and sums of intervals. */
export function clickhouseRelations(scope: AccountScope): string {
  const mine = `(${accountCondition(scope)}) AND (empty(getvariable('usage_sources')) OR has(getvariable('usage_sources'), source))`
  const tokens = tokenColumns.join(', ')
  return `WITH
usage_lines AS (
  SELECT source, id, at_us, quarter, type, model, endpoint, key_fp, account, tags, outcome, status,
    error_code, credits, credits AS possible_credits, unit, ${tokens}, requests, priced_by
  FROM usage_events FINAL
  WHERE type <> 'moved' AND ${mine}),
usage_shown AS (SELECT * FROM usage_lines WHERE type IN ('usage', 'refund')),
usage_ledger AS (SELECT * FROM usage_lines WHERE type <> 'usage'),
closed AS (SELECT ${Object.keys(quantities).join(', ')} FROM usage_quarters FINAL WHERE ${mine}),
requests AS (SELECT ${requestColumns(dialect)} FROM usage_shown),
open AS (
  SELECT * FROM requests
  WHERE quarter >= (SELECT if(count() = 0, 0, (intDiv(max(quarter), 96) + 1) * 96) FROM usage_quarters)),
stated AS (
  -- Costs that the source reports apart come before computed ones.
  SELECT * EXCEPT (credits), if(priced_by IS NULL OR NOT has_costs, usage_buckets.credits, NULL) AS credits
  FROM usage_buckets FINAL WHERE counts AND ${mine}),
usage_bills AS (SELECT source FROM usage_buckets FINAL WHERE counts AND measures = 'charges' AND ${mine}),
buckets AS (SELECT ${statedColumns(dialect)} FROM stated),
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
usage_key_hours AS (${queryText('key-hours')})`
}
