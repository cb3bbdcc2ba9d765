import type { Reader } from '../../store/session/session.ts'
import { firstPhase } from './first-requests.ts'

interface FirstRow {
  readonly endpoint: string
  readonly status: number | null
  readonly ms: number | null
  readonly contentEvents: number
  readonly hasUsage: boolean
  readonly credits: number | null
  readonly rateLimit: number | null
}

/**
 * A sentence on the response to the first request of a run: format, stream, usage, and the headers of
 * credits and limits. Null without a response.
 */
export async function firstAnswer(store: Reader, runId: string): Promise<string | null> {
  const [row] = await store.rows<FirstRow>(
    `SELECT endpoint, status, (closed_us - sent_us) / 1000 AS ms, content_events AS "contentEvents",
       coalesce(prompt_tokens, completion_tokens, total_tokens) IS NOT NULL AS "hasUsage",
       credits_remaining AS credits, rate_limit AS "rateLimit"
     FROM attempts WHERE run_id = $1 AND phase = $2 AND sent_us IS NOT NULL ORDER BY slot LIMIT 1`,
    [runId, firstPhase],
  )
  if (row === undefined || row.status === null) return null
  return [
    `${row.endpoint} answered ${row.status} in ${Number(row.ms).toFixed(0)} ms`,
    row.contentEvents > 0 ? `a stream of ${row.contentEvents} events with text` : 'no stream',
    row.hasUsage ? 'token counts' : 'no token counts',
    row.credits === null ? 'no credits header' : `${row.credits} credits left`,
    row.rateLimit === null ? 'no limit headers' : `a limit of ${row.rateLimit} requests`,
  ].join(', ')
}
