import { numberOf, refuse, type TraceRecord, tokensOf } from '../records.ts'
import type { TraceRow } from '../trace.ts'
import { plainRow } from '../trace.ts'

/** Fields that Mooncake's and Bailian's traces share. */
const expected = 'timestamp, input_length, output_length and, optionally, whole-number hash_ids'

/** @throws UserError for a line without these fields */
export function blockRow(record: TraceRecord, path: string): TraceRow {
  const { timestamp, input_length, output_length, hash_ids } = record.fields
  const hashIds = hash_ids ?? []
  const [time, input, output] = [
    numberOf(timestamp),
    tokensOf(input_length),
    tokensOf(output_length),
  ]
  if (!Number.isFinite(time) || input === null || output === null || !isIds(hashIds))
    refuse(record, path, expected)
  return { ...plainRow(time, input, output), hashIds }
}

export const isIds = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.every((id) => Number.isSafeInteger(id) && id >= 0)
