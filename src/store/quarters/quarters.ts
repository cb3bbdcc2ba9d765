import { readFileSync } from 'node:fs'

const textOf = (name: string) =>
  readFileSync(new URL(`../../../src/store/quarters/${name}.sql`, import.meta.url), 'utf8')

/** SQL for the contribution of each request of `usage_shown` to the sums of its quarter of an hour. */
export const cellsSql = () => textOf('cells.duckdb')

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
  key_fp: { type: 'VARCHAR', without: 'NULL' },
  account: { type: 'VARCHAR', without: 'NULL' },
  model: { type: 'VARCHAR', without: 'NULL' },
  endpoint: { type: 'VARCHAR', without: 'NULL' },
  outcome: { type: 'VARCHAR' },
  status: { type: 'INTEGER', without: 'NULL' },
  error_code: { type: 'VARCHAR', without: 'NULL' },
  requests: { type: 'BIGINT' },
  credits: { type: 'DECIMAL(38, 18)', without: 'NULL' },
  possible_credits: { type: 'DECIMAL(38, 18)', without: 'credits' },
  credits_known: {
    type: 'BIGINT',
    without: 'CASE WHEN possible_credits IS NOT NULL THEN requests END',
  },
  prompt_tokens: { type: 'BIGINT', without: 'NULL' },
  cached_tokens: { type: 'BIGINT', without: 'NULL' },
  completion_tokens: { type: 'BIGINT', without: 'NULL' },
  both_tokens: { type: 'BIGINT', without: 'prompt_tokens + completion_tokens' },
  tokens_known: { type: 'BIGINT', without: 'CASE WHEN both_tokens IS NOT NULL THEN requests END' },
  first_us: { type: 'BIGINT', without: 'quarter * 900000000' },
  last_us: { type: 'BIGINT', without: 'quarter * 900000000 + 899999999' },
  minutes: { type: 'BIGINT[]', without: 'NULL' },
}
