import { streamedTokens, streams, succeeded } from './row-sql.ts'

/**
 * How long an answer is, as a share of the tokens that its request asked for; over rows of `attempt_values` with the
 * template of each.
 */
export const outputLength = {
  summary:
    'output tokens of a success, divided by those that its request asked for: its `max_tokens`, times its choices',
  of: 'output_tokens IS NOT NULL AND asked_tokens > 0',
  value: 'output_tokens / asked_tokens',
  from: (rows: string) =>
    `(SELECT each.*, max_tokens * greatest(1, coalesce(n, 1)) AS asked_tokens FROM ${rows} AS each JOIN templates USING (run_id, template))`,
} as const

/**
 * Fluidity of a stream: the share of the deadlines of its tokens that were kept; over rows of `attempt_values`. It is known only
 * if each event with text held one token.
 */
export const fluidity = {
  summary:
    'deadlines of tokens that a stream kept, as a share of all (`token_deadlines` of the scenario; Agrawal et al., arXiv 2507.09019): an early token leaves slack to the next ones, a late one misses as many deadlines as passed meanwhile; of a success whose events held one token each, in one choice',
  /** Streams that have deadlines, and those of them whose tokens are known. */
  asked: `succeeded AND deadlines IS NOT NULL`,
  of: `succeeded AND deadlines > 0 AND ${streams} = 1 AND ${streamedTokens} = content_events`,
  value: '1 - missed_deadlines / deadlines',
} as const

/** SQL: the share of prompt tokens that a cache had, among successes that report it; null without any. */
export const cachedShareSql = `sum(cached_tokens) FILTER (${succeeded})
  / nullif(sum(prompt_tokens) FILTER (${succeeded} AND cached_tokens IS NOT NULL), 0)`
