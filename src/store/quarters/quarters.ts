import { readFileSync } from 'node:fs'

/** Usage is summed in quarters of an hour: the offset of every current zone is a multiple of one. */
export const quarterUs = 900_000_000

const textOf = (name: string) =>
  readFileSync(new URL(`../../../src/store/quarters/${name}.sql`, import.meta.url), 'utf8')

/** SQL for the contribution of each row of `usage_shown` and `usage_shown_buckets` to the sums of quarters of an hour. */
export const cellsSql = () => textOf('cells.duckdb')

/** SQL for the sums of the store that count, and whether their costs are in other sums of the source. */
export const shownBucketsSql = (where: string) =>
  `SELECT *, measures = 'usage' AND EXISTS (
     FROM usage_buckets AS costs WHERE costs.source = buckets.source AND costs.measures = 'costs') AS has_costs
   FROM usage_buckets AS buckets WHERE replaced_by IS NULL ${where}`

/** SQL for the table of quarters, as sums of `usage_cells`. */
export const quartersSql = () => textOf('quarters')

interface QuarterColumn {
  readonly type: string
  /** SQL over other columns for a file without this column; undefined if the column is required. */
  readonly without?: string
}

/** Columns of the table of quarters (docs/usage.md), in the order of `quartersSql`. */
export const quarterColumns: Readonly<Record<string, QuarterColumn>> = {
  source: { type: 'VARCHAR' },
  quarter: { type: 'BIGINT' },
  width_us: { type: 'BIGINT', without: '900000000' },
  key_fp: { type: 'VARCHAR', without: 'NULL' },
  account: { type: 'VARCHAR', without: 'NULL' },
  model: { type: 'VARCHAR', without: 'NULL' },
  endpoint: { type: 'VARCHAR', without: 'NULL' },
  outcome: { type: 'VARCHAR' },
  status: { type: 'INTEGER', without: 'NULL' },
  error_code: { type: 'VARCHAR', without: 'NULL' },
  unit: { type: 'VARCHAR', without: `'credits'` },
  requests: { type: 'BIGINT' },
  requests_unknown: { type: 'BIGINT', without: 'CASE WHEN requests IS NULL THEN 1 ELSE 0 END' },
  credits: { type: 'DECIMAL(38, 18)', without: 'NULL' },
  possible_credits: { type: 'DECIMAL(38, 18)', without: 'credits' },
  refunds: { type: 'DECIMAL(38, 18)', without: 'NULL' },
  computed: { type: 'DECIMAL(38, 18)', without: 'NULL' },
  priced_by: { type: 'VARCHAR', without: 'NULL' },
  credits_known: {
    type: 'BIGINT',
    without: 'CASE WHEN possible_credits IS NOT NULL THEN requests END',
  },
  prompt_tokens: { type: 'BIGINT', without: 'NULL' },
  cached_tokens: { type: 'BIGINT', without: 'NULL' },
  cache_write_tokens: { type: 'BIGINT', without: 'NULL' },
  cache_write_1h_tokens: { type: 'BIGINT', without: 'NULL' },
  completion_tokens: { type: 'BIGINT', without: 'NULL' },
  reasoning_tokens: { type: 'BIGINT', without: 'NULL' },
  both_tokens: { type: 'BIGINT', without: 'prompt_tokens + completion_tokens' },
  tokens_known: { type: 'BIGINT', without: 'CASE WHEN both_tokens IS NOT NULL THEN requests END' },
  cached_known: {
    type: 'BIGINT',
    without: 'CASE WHEN cached_tokens IS NOT NULL THEN requests END',
  },
  cache_write_known: {
    type: 'BIGINT',
    without: 'CASE WHEN cache_write_tokens IS NOT NULL THEN requests END',
  },
  reasoning_known: {
    type: 'BIGINT',
    without: 'CASE WHEN reasoning_tokens IS NOT NULL THEN requests END',
  },
  first_us: { type: 'BIGINT', without: 'quarter * 900000000' },
  last_us: { type: 'BIGINT', without: 'quarter * 900000000 + width_us - 1' },
  minutes: { type: 'BIGINT[]', without: 'NULL' },
}
