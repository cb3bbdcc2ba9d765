import type { TraceRecord } from '../records.ts'
import type { TraceRows } from '../trace.ts'
import { blockRow } from './blocks.ts'

/**
 * Mooncake's traces (FAST'25), JSON Lines: `timestamp` in milliseconds from the start, lengths, and ids of
 * blocks of 512 tokens. AIPerf's `session_id` is read too.
 */
export function mooncake(records: readonly TraceRecord[], path: string): TraceRows {
  const rows = records.map((record) => {
    const { session_id: session = null } = record.fields
    return { ...blockRow(record, path), session: session === null ? null : String(session) }
  })
  return { rows, leftOut: [], unit: null, blocks: [512, 64, 16] }
}
