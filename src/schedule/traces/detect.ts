import type { TraceRecord } from './records.ts'

/** Formats whose rows are records of named fields. */
export type RecordFormat = 'mooncake' | 'bailian' | 'azure' | 'burstgpt' | 'assay'

/** Fields that only one format has, the most telling first. */
const marks: readonly (readonly [RecordFormat, readonly string[]])[] = [
  ['bailian', ['chat_id', 'parent_chat_id']],
  ['azure', ['TIMESTAMP', 'ContextTokens', 'GeneratedTokens']],
  ['burstgpt', ['Timestamp', 'Request tokens', 'Response tokens']],
  ['assay', ['intended_us', 'endpoint']],
  ['mooncake', ['timestamp', 'input_length', 'output_length']],
]

/** @returns the format that the fields of the first record are of; null if no format has them all */
export function formatOf(record: TraceRecord | undefined): RecordFormat | null {
  const has = (name: string) => record !== undefined && Object.hasOwn(record.fields, name)
  return marks.find(([, names]) => names.every(has))?.[0] ?? null
}
