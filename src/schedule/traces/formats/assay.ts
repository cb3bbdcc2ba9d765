import { numberOf, refuse, type TraceRecord, tokensOf } from '../records.ts'
import { plainRow, type TraceRow, type TraceRows } from '../trace.ts'

/** Our own export of attempts, as JSON Lines or CSV. Only first attempts at chat or messages that were sent count. */
export function assay(records: readonly TraceRecord[], path: string): TraceRows {
  const rows: TraceRow[] = []
  const leftOut = {
    'retries, and requests that were not sent': 0,
    'requests of other endpoints': 0,
  }
  const last = new Map<string, number>()
  for (const record of records) {
    const { endpoint, retry, outcome, intended_us, model, streamed } = record.fields
    const { session: id, turn } = record.fields
    if (endpoint !== 'chat' && endpoint !== 'messages') {
      leftOut['requests of other endpoints']++
    } else if (Number(retry ?? 0) !== 0 || outcome === 'not_sent') {
      leftOut['retries, and requests that were not sent']++
    } else {
      const input = tokensOf(record.fields.prompt_tokens ?? 1)
      // A stream may not report its usage; its events with text are then the best estimate of tokens.
      const output = tokensOf(
        record.fields.completion_tokens ?? (record.fields.content_events || 1),
      )
      if (!Number.isFinite(numberOf(intended_us)) || input === null || output === null) {
        refuse(
          record,
          path,
          'intended_us and, for a generation, prompt_tokens and completion_tokens',
        )
      }
      const session = id === undefined || id === null || id === '' ? null : String(id)
      rows.push({
        ...plainRow(numberOf(intended_us), input, output),
        endpoint,
        session,
        stream: Number(streamed) === 1,
        model: typeof model === 'string' && model !== '' ? model : null,
        turn: session === null ? null : Number(turn ?? 0) + 1,
        after: session === null ? null : (last.get(session) ?? null),
      })
      if (session !== null) last.set(session, rows.length - 1)
    }
  }
  const reasons = Object.entries(leftOut).filter(([, count]) => count > 0)
  return {
    rows,
    leftOut: reasons.map(([reason, count]) => ({ rows: count, reason })),
    unit: 'us',
    blocks: [],
  }
}
