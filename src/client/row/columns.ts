import { type Batch, type Dictionary, nullCount, nullWord } from '../../attempt/batch.ts'
import { type AttemptRow, attemptColumns, type ColumnName } from '../../attempt/columns.ts'
import { answerTimeColumns } from '../document/answer-times.ts'
import type { DocumentFields } from '../document/document-fields.ts'
import { tokenColumns, tokenPartColumns } from '../document/usage-counts.ts'
import type { ResponseId } from '../head/response-id.ts'

/** The columns of an attempt that the client fills; the sender fills the rest. */
export const responseColumns = [
  ...['dispatchedUs', 'sentUs', 'headersUs', 'firstEventUs', 'firstContentUs'],
  ...['lastContentUs', 'doneUs', 'closedUs', 'outcome', 'reason', 'status'],
  ...['errorShape', 'errorCode', 'errorType', 'errorMessage', 'creditsRemaining'],
  ...['rateLimit', 'rateRemaining', 'rateReset', 'tokenLimit', 'tokenRemaining'],
  ...['tokenReset', 'retryAfter', 'dateS', 'responseId', 'responseModel'],
  ...['finishReason', 'choices'],
  ...tokenColumns,
  ...['events', 'contentEvents', 'contentReads', 'unknownEvents', 'unknownMember'],
  ...['doneMarks', 'itlMaxUs', 'textUs', 'bytesIn', 'flags'],
  ...answerTimeColumns,
] as const satisfies readonly ColumnName[]

type ResponseColumn = (typeof responseColumns)[number]

/** The response half of an attempt row. */
export type ResponseColumns = Pick<AttemptRow, ResponseColumn>

/** The same before it is written: a number that is null in the row is NaN. */
export type ResponseValues = {
  readonly [Name in ResponseColumn]: Exclude<AttemptRow[Name], null> extends number
    ? number
    : AttemptRow[Name]
}

/** The response half as an object, for probes and tests. */
export function columnsOf(values: ResponseValues): ResponseColumns {
  return Object.fromEntries(
    responseColumns.map((name) => [name, nullable(name, values[name])]),
  ) as ResponseColumns
}

function nullable(name: ResponseColumn, value: string | number | null): string | number | null {
  if (typeof value !== 'number') return value
  if (attemptColumns[name].kind === 'count') return isCount(value) ? value : null
  return Number.isNaN(value) ? null : value
}

/** Columns with the same value in all plain successes, which most rows are: null or 0, except the outcome. */
export const plainSuccessColumns = [
  ...['firstEventUs', 'firstContentUs', 'lastContentUs', 'outcome', 'reason'],
  ...['errorShape', 'errorCode', 'errorType', 'errorMessage', 'events'],
  ...['contentEvents', 'contentReads', 'unknownEvents', 'unknownMember', 'doneMarks'],
  ...['itlMaxUs', 'textUs'],
  ...tokenPartColumns,
  ...answerTimeColumns,
] as const satisfies readonly ResponseColumn[]

type Values = ResponseValues & { readonly id: ResponseId }

/** Whether `plainSuccessColumns` have their common values. */
export function isPlainSuccess(
  values: ResponseValues & Pick<DocumentFields, 'hasTokenParts' | 'statesTimes'>,
): boolean {
  return (
    values.outcome === 'ok' &&
    values.events === 0 &&
    !values.hasTokenParts &&
    !values.statesTimes &&
    values.errorShape === null &&
    values.errorCode === null &&
    values.errorType === null &&
    values.errorMessage === null
  )
}

/** Writes the response half into row `batch.rows`. It runs for each attempt: no loop over names, and no allocation. */
export function writeColumns(values: Values, batch: Batch, words: Dictionary): void {
  const at = batch.rows
  const to = batch.columns
  to.firstEventUs[at] = values.firstEventUs
  to.firstContentUs[at] = values.firstContentUs
  to.lastContentUs[at] = values.lastContentUs
  to.outcome[at] = words.codeOf(values.outcome)
  to.reason[at] = codeOf(words, values.reason)
  to.errorShape[at] = codeOf(words, values.errorShape)
  to.errorCode[at] = codeOf(words, values.errorCode)
  to.errorType[at] = codeOf(words, values.errorType)
  to.errorMessage[at] = codeOf(words, values.errorMessage)
  to.events[at] = values.events
  to.contentEvents[at] = values.contentEvents
  to.contentReads[at] = values.contentReads
  to.unknownEvents[at] = values.unknownEvents
  to.unknownMember[at] = codeOf(words, values.unknownMember)
  to.doneMarks[at] = values.doneMarks
  to.itlMaxUs[at] = values.itlMaxUs
  to.textUs[at] = values.textUs
  to.cachedTokens[at] = count(values.cachedTokens)
  to.cacheReadAudioTokens[at] = count(values.cacheReadAudioTokens)
  to.cacheWriteTokens[at] = count(values.cacheWriteTokens)
  to.cacheWrite1hTokens[at] = count(values.cacheWrite1hTokens)
  to.inputAudioTokens[at] = count(values.inputAudioTokens)
  to.inputImageTokens[at] = count(values.inputImageTokens)
  to.reasoningTokens[at] = count(values.reasoningTokens)
  to.outputAudioTokens[at] = count(values.outputAudioTokens)
  to.outputImageTokens[at] = count(values.outputImageTokens)
  to.citationTokens[at] = count(values.citationTokens)
  to.queueUs[at] = values.queueUs
  to.prefillUs[at] = values.prefillUs
  to.decodeUs[at] = values.decodeUs
  writeOwnColumns(values, batch, words)
}

/** The same without `plainSuccessColumns`. */
export function writeOwnColumns(values: Values, batch: Batch, words: Dictionary): void {
  const at = batch.rows
  const to = batch.columns
  to.dispatchedUs[at] = values.dispatchedUs
  to.sentUs[at] = values.sentUs
  to.headersUs[at] = values.headersUs
  to.doneUs[at] = values.doneUs
  to.closedUs[at] = values.closedUs
  to.status[at] = count(values.status)
  to.creditsRemaining[at] = values.creditsRemaining
  to.rateLimit[at] = values.rateLimit
  to.rateRemaining[at] = values.rateRemaining
  to.rateReset[at] = values.rateReset
  to.tokenLimit[at] = values.tokenLimit
  to.tokenRemaining[at] = values.tokenRemaining
  to.tokenReset[at] = values.tokenReset
  to.retryAfter[at] = values.retryAfter
  to.dateS[at] = values.dateS
  values.id.writeTo(batch, at)
  to.responseModel[at] = codeOf(words, values.responseModel)
  to.finishReason[at] = codeOf(words, values.finishReason)
  to.choices[at] = count(values.choices)
  to.promptTokens[at] = count(values.promptTokens)
  to.completionTokens[at] = count(values.completionTokens)
  to.totalTokens[at] = count(values.totalTokens)
  to.bytesIn[at] = values.bytesIn
  to.flags[at] = values.flags
}

const codeOf = (words: Dictionary, word: string | null): number =>
  word === null ? nullWord : words.saidCodeOf(word)

/** A service may send anything as a count; a value that is not a 32-bit integer becomes null. */
const count = (value: number): number => (isCount(value) ? value : nullCount)

const maxCount = 2 ** 31 - 1

/** The comparisons come first: V8 truncates a NaN, which most counts of a row are, by a slow call. */
const isCount = (value: number): boolean =>
  value > nullCount && value <= maxCount && (value | 0) === value
