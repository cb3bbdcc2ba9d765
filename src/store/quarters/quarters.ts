import {
  duckdb,
  groupColumns,
  quantities,
  requestColumns,
  statedColumns,
  sumColumns,
} from '../../measure/usage/quantities.ts'

/**
 * SQL for the contribution of each row of `usage_shown` and `usage_shown_buckets` to the sums of quarters of an hour (docs/usage.md, "The
 * table of quarters"). `requestColumns` and `statedColumns` have the quarter and the length of
 * a row or sum (`width_us`); the quarter of a sum is that of its start.
 */
export const cellsSql = () => `
  SELECT origin, at_us // 3600000000 AS hour, ${requestColumns(duckdb)} FROM usage_shown
  UNION ALL BY NAME
  SELECT 'import' AS origin, start_us // 3600000000 AS hour, ${statedColumns(duckdb)} FROM (
    -- Costs that the source reports apart come before computed ones.
    SELECT * REPLACE (CASE WHEN priced_by IS NULL OR NOT has_costs THEN credits END AS credits) FROM usage_shown_buckets)`

/**
 * SQL for whether a sum of usage, a row of `buckets`, has its costs in other sums of its source: those of an import whose time
 * overlaps, of the same account. An export of costs leaves out what is 0, so it covers its whole time. Costs or usage without
 * an account are those of each.
 */
export const hasCostsSql = `buckets.measures = 'usage' AND EXISTS (
     FROM (
       SELECT DISTINCT sums.source, account, coalesce(from_us, start_us) AS from_us, coalesce(to_us, end_us) AS to_us
       FROM usage_buckets AS sums LEFT JOIN usage_imports ON import_no = statement
       WHERE measures = 'costs' AND replaced_by IS NULL) AS costs
     WHERE costs.source = buckets.source AND costs.from_us < buckets.end_us AND costs.to_us > buckets.start_us
       AND (costs.account IS NULL OR buckets.account IS NULL OR costs.account = buckets.account))`

/**
 * SQL for the sums of the store that nothing replaced, and whether their costs are in other sums of the source.
 *
 * @param where further conditions, from AND on
 */
export const shownBucketsSql = (where: string) =>
  `SELECT *, ${hasCostsSql} AS has_costs FROM usage_buckets AS buckets WHERE replaced_by IS NULL ${where}`

/**
 * SQL for the table of quarters.
 *
 * @param from what is summed: rows with its columns
 * @param minutes false leaves them out: fifteen sums cost more than all others
 */
export function quartersSql(from = 'usage_cells', minutes = true): string {
  const columns = Object.keys(quantities)
  const summed = columns.filter((name) => !groupColumns.includes(name) && name !== 'minutes')
  return `
    SELECT ${groupColumns.join(', ')}, ${sumColumns(summed)}, ${minutes ? sumColumns(['minutes']) : 'NULL::BIGINT[] AS minutes'}
    FROM ${from} GROUP BY ${groupColumns.join(', ')}`
}
