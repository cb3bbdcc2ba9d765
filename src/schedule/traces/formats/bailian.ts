import { numberOf, refuse, type TraceRecord } from '../records.ts'
import type { TraceRow, TraceRows } from '../trace.ts'
import { blockRow } from './blocks.ts'

/**
 * Traces of Bailian (Qwen), JSON Lines: `timestamp` in seconds, ids of blocks of 16 tokens, and `chat_id` with the
 * `parent_chat_id` that it continues; -1, or a parent that the file lacks, is a root. The length of a later turn
 * already contains its history.
 */
export function bailian(records: readonly TraceRecord[], path: string): TraceRows {
  const at = new Map<number, number>()
  const rows: TraceRow[] = []
  for (const [index, record] of records.entries()) {
    const [id, parent] = [numberOf(record.fields.chat_id), numberOf(record.fields.parent_chat_id)]
    if (!Number.isFinite(id) || !Number.isFinite(parent))
      refuse(record, path, 'chat_id and parent_chat_id')
    const after = at.get(parent) ?? null
    const session = after === null ? String(id) : rows[after]!.session
    const turn = numberOf(record.fields.turn)
    at.set(id, index)
    rows.push({ ...blockRow(record, path), session, turn: turn > 0 ? turn : null, after })
  }
  return { rows, leftOut: [], unit: 's', blocks: [16] }
}
