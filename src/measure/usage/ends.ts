/**
 * How a request ended: each request has one end.
 *
 * - `ok`: a success
 * - `limited`: status 429
 * - `error`: another answer with an error
 * - `unknown`: no whole answer (broken, timed out, aborted), so it may have been charged
 *
 * A request that `failed` has any end but `ok`, wherever the word stands.
 */
export const ends = ['ok', 'limited', 'error', 'unknown'] as const
export type End = (typeof ends)[number]

/** What a filter of ends takes. */
export const endFilters = [...ends, 'failed'] as const

export const endsOf = (filter: (typeof endFilters)[number]): readonly End[] =>
  filter === 'failed' ? ends.filter((end) => end !== 'ok') : [filter]

/** SQL for the end, over `outcome` and `status`. */
export const endSql = `CASE WHEN outcome = 'ok' THEN 'ok' WHEN status = 429 THEN 'limited' WHEN outcome = 'http_error' THEN 'error' ELSE 'unknown' END`

/** The same as `endSql` for a row. */
export function endOf(row: { readonly outcome: string; readonly status: number | null }): End {
  if (row.outcome === 'ok') return 'ok'
  if (row.status === 429) return 'limited'
  return row.outcome === 'http_error' ? 'error' : 'unknown'
}
