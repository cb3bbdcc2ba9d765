import {
  clickhouseSql as dialect,
  quantities,
  requestColumns,
  statedColumns,
  tokenColumns,
} from '../../../measure/usage/quantities.ts'
import { firstOpenQuarter } from '../../../store/clickhouse/tables.ts'
import { type AccountScope, accountCondition, isWhole } from '../../../store/session/account.ts'
import type { Variable } from '../../../store/session/variable.ts'
import { keyHours } from './queries.ts'

/**
 * The relations of the queries in ClickHouse, by name: sums of closed days, requests of open days, and sums of intervals.
 *
 * @param variable how a variable is written, as a parameter of the query
 */
export function clickhouseRelations(
  scope: AccountScope,
  variable: Variable,
): Readonly<Record<string, string>> {
  const sources = variable('usage_sources')
  const mine = `(${accountCondition(scope, variable)}) AND (empty(${sources}) OR has(${sources}, source))`
  const tokens = tokenColumns.join(', ')
  const statedSums = `SELECT * FROM usage_buckets FINAL WHERE counts AND ${mine}`
  // As in DuckDB, who sees an account sees no costs without one: its computed costs stand, unless it has costs of its own (`hasCostsSql`).
  const ofScope = `
    WITH (
      SELECT groupUniqArray((source, from_us, to_us)) FROM (
        SELECT source, min(start_us) AS from_us, max(end_us) AS to_us
        FROM (${statedSums}) WHERE measures = 'costs' GROUP BY source, statement)
    ) AS costs
    SELECT * EXCEPT (has_costs), measures = 'usage' AND arrayExists(
      each -> each.1 = source AND each.2 < end_us AND each.3 > start_us, costs) AS has_costs
    FROM (${statedSums})`
  return {
    usage_lines: `
  SELECT source, id, at_us, quarter, type, model, endpoint, key_fp, account, tags, outcome, status,
    error_code, credits, credits AS possible_credits, unit, ${tokens}, requests, priced_by, terms
  FROM usage_events FINAL
  WHERE type <> 'moved' AND ${mine}`,
    usage_shown: `SELECT * FROM usage_lines WHERE type IN ('usage', 'refund')`,
    usage_ledger: `SELECT * FROM usage_lines WHERE type <> 'usage'`,
    closed: `SELECT ${Object.keys(quantities).join(', ')} FROM usage_quarters FINAL WHERE ${mine}`,
    requests: `SELECT ${requestColumns(dialect)} FROM usage_shown`,
    open: `SELECT * FROM requests WHERE quarter >= ${firstOpenQuarter}`,
    stated: `
  -- Costs that the source reports apart come before computed ones.
  SELECT * EXCEPT (credits), if(priced_by IS NULL OR NOT has_costs, sums.credits, NULL) AS credits
  FROM (${isWhole(scope) ? statedSums : ofScope}) AS sums`,
    usage_bills: `SELECT source FROM usage_buckets FINAL WHERE counts AND measures = 'charges' AND ${mine}`,
    buckets: `SELECT ${statedColumns(dialect)} FROM stated`,
    usage_cells: `
  SELECT 'import' AS origin, intDiv(quarter, 4) AS hour, * FROM (
    SELECT * FROM open
    UNION ALL
    SELECT * FROM closed
    UNION ALL
    SELECT * FROM buckets)`,
    usage_minutes: `
  SELECT key_fp, intDiv(first_us, 60000000) AS minute, intDiv(quarter, 4) AS hour, first_us, requests FROM open
  UNION ALL
  SELECT key_fp, quarter * 15 + place - 1 AS minute, intDiv(quarter, 4) AS hour, first_us, n AS requests
  FROM closed ARRAY JOIN minutes AS n, arrayEnumerate(minutes) AS place WHERE n > 0`,
    usage_key_hours: keyHours(variable).rows,
  }
}
