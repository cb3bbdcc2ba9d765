import type { AttemptRow, ColumnName } from '../attempt/columns.ts'

/** The columns of an attempt row that the wire decides; the sender of the request fills the rest. */
export const responseColumns = [
  'dispatchedUs',
  'sentUs',
  'headersUs',
  'firstEventUs',
  'firstContentUs',
  'lastContentUs',
  'doneUs',
  'closedUs',
  'outcome',
  'reason',
  'status',
  'errorShape',
  'errorCode',
  'errorType',
  'creditsRemaining',
  'rateLimit',
  'rateRemaining',
  'rateReset',
  'retryAfter',
  'dateS',
  'responseId',
  'responseModel',
  'finishReason',
  'choices',
  'promptTokens',
  'completionTokens',
  'totalTokens',
  'events',
  'contentEvents',
  'contentReads',
  'doneMarks',
  'itlMaxUs',
  'bytesIn',
  'flags',
] as const satisfies readonly ColumnName[]

/** The response half of an attempt row. */
export type ResponseColumns = Pick<AttemptRow, (typeof responseColumns)[number]>
