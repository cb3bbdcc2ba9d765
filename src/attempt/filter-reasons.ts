/** Words of the reasons with which services end an answer that a filter held back: `content_filter`, `SAFETY`, `guardrail_intervened`. */
const words =
  'filter|refusal|safety|sensitive|prohibited|blocklist|recitation|spii|guardrail|moderat'
const pattern = new RegExp(words, 'i')

export const isFilterReason = (reason: string | null): boolean =>
  reason !== null && pattern.test(reason)

/** SQL: the same of a column or an expression. */
export const filterReasonSql = (reason: string) => `regexp_matches(${reason}, '${words}', 'i')`
