import { numberOf, type TraceRecord } from '../records.ts'
import type { TraceRow, TraceRows } from '../trace.ts'
import { blockRow } from './blocks.ts'

/**
 * Mooncake's traces (FAST'25), JSON Lines: `timestamp` in milliseconds from the start, lengths, and ids of
 * blocks of 512 tokens. In AIPerf's form, requests with one `session_id` follow each other, and a later one may have a
 * `delay` in milliseconds since the one before it in place of its time.
 */
export function mooncake(records: readonly TraceRecord[], path: string): TraceRows {
  const last = new Map<string, { readonly index: number; readonly turn: number }>()
  const rows: TraceRow[] = []
  for (const [index, record] of records.entries()) {
    const { session_id: id = null, timestamp, delay } = record.fields
    const session = id === null ? null : String(id)
    const before = session === null ? undefined : last.get(session)
    const isLater = timestamp === undefined && before !== undefined && numberOf(delay) >= 0
    const fields = isLater
      ? { ...record.fields, timestamp: rows[before.index]!.time + numberOf(delay) }
      : record.fields
    const turn = session === null ? null : (before?.turn ?? 0) + 1
    if (session !== null) last.set(session, { index, turn: turn! })
    rows.push({
      ...blockRow({ ...record, fields }, path),
      session,
      turn,
      after: before?.index ?? null,
    })
  }
  return {
    rows,
    leftOut: [],
    unit: rows.length > 0 && hasDelays(records) ? 'ms' : null,
    blocks: [512, 64, 16],
  }
}

/** Only AIPerf's form has them, and its times are milliseconds. */
const hasDelays = (records: readonly TraceRecord[]) =>
  records.some(({ fields }) => fields.session_id !== undefined && fields.delay !== undefined)
