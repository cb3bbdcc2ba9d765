import type { Batch, Words } from '../attempt/batch.ts'
import { flags } from '../attempt/flags.ts'
import type { Outcome } from '../attempt/outcome.ts'
import {
  columnsOf,
  isPlainSuccess,
  type ResponseColumns,
  type ResponseValues,
  writeColumns,
  writeOwnColumns,
} from './columns.ts'
import type { ReplyReader } from './reply.ts'
import { ResponseId } from './response-id.ts'
import type { ResponseWords } from './response-words.ts'
import { type Span, spanIs } from './span.ts'

const errorWord = Buffer.from('error')

/** The response half of a row while it is filled: fields by the names of the columns, NaN for null. */
export class ResponseFields implements ResponseValues {
  dispatchedUs = Number.NaN
  sentUs = Number.NaN
  headersUs = Number.NaN
  firstEventUs = Number.NaN
  firstContentUs = Number.NaN
  lastContentUs = Number.NaN
  doneUs = Number.NaN
  closedUs = Number.NaN
  outcome: Outcome = 'ok'
  reason: string | null = null
  status = Number.NaN
  errorShape: string | null = null
  errorCode: string | null = null
  errorType: string | null = null
  creditsRemaining = Number.NaN
  rateLimit = Number.NaN
  rateRemaining = Number.NaN
  rateReset = Number.NaN
  retryAfter = Number.NaN
  dateS = Number.NaN
  readonly id = new ResponseId()
  responseModel: string | null = null
  finishReason: string | null = null
  choices = Number.NaN
  promptTokens = Number.NaN
  completionTokens = Number.NaN
  totalTokens = Number.NaN
  events = 0
  contentEvents = 0
  contentReads = 0
  doneMarks = 0
  itlMaxUs = Number.NaN
  bytesIn = 0
  flags = 0

  get responseId(): string | null {
    return this.id.text
  }

  /** Writes the response half into row `batch.rows`; the caller fills the rest and adds the row. */
  writeTo(batch: Batch, words: Words): void {
    writeColumns(this, batch, words)
  }

  get isPlainSuccess(): boolean {
    return isPlainSuccess(this)
  }

  /** The same of a plain success behind another one, without `plainSuccessColumns`. */
  writeOwnTo(batch: Batch, words: Words): void {
    writeOwnColumns(this, batch, words)
  }

  /** The response half as an object, for probes and tests. */
  toColumns(): ResponseColumns {
    return columnsOf(this)
  }

  /** What a body, or an event of a stream, said of itself. */
  protected keepReply(reply: ReplyReader, bytes: Buffer, words: ResponseWords, key: string): void {
    // Some begin a stream with a chunk whose fields are empty: the first that says something counts.
    if (says(reply.id) && !this.id.isKnown) this.id.keep(bytes, reply.id, key)
    if (says(reply.model) && this.responseModel === null) {
      this.responseModel = words.text(bytes, reply.model, key)
    }
    if (reply.finish.start >= 0) this.finishReason = words.text(bytes, reply.finish, key)
    // Usage in a stream is cumulative: the last word counts, and nothing is summed.
    if (!Number.isNaN(reply.promptTokens)) this.promptTokens = reply.promptTokens
    if (!Number.isNaN(reply.completionTokens)) this.completionTokens = reply.completionTokens
    if (!Number.isNaN(reply.totalTokens)) this.totalTokens = reply.totalTokens
    if (reply.hasReasoning) this.flags |= flags.reasoning
  }

  protected keepError(reply: ReplyReader, bytes: Buffer, words: ResponseWords, key: string): void {
    if (!reply.errorIsObject) this.errorShape = 'other'
    else this.errorShape = spanIs(bytes, reply.type, errorWord) ? 'messages' : 'chat'
    if (reply.errorCode.start >= 0) this.errorCode = words.text(bytes, reply.errorCode, key)
    if (reply.errorType.start >= 0) this.errorType = words.text(bytes, reply.errorType, key)
  }

  /** Ready for the next attempt. What every attempt sets is left as it is. */
  protected clear(): void {
    this.sentUs = Number.NaN
    this.headersUs = Number.NaN
    this.firstEventUs = Number.NaN
    this.firstContentUs = Number.NaN
    this.lastContentUs = Number.NaN
    this.doneUs = Number.NaN
    this.closedUs = Number.NaN
    this.reason = null
    this.status = Number.NaN
    this.errorShape = null
    this.errorCode = null
    this.errorType = null
    this.creditsRemaining = Number.NaN
    this.rateLimit = Number.NaN
    this.rateRemaining = Number.NaN
    this.rateReset = Number.NaN
    this.retryAfter = Number.NaN
    this.dateS = Number.NaN
    this.id.clear()
    this.responseModel = null
    this.finishReason = null
    this.choices = Number.NaN
    this.promptTokens = Number.NaN
    this.completionTokens = Number.NaN
    this.totalTokens = Number.NaN
    this.events = 0
    this.contentEvents = 0
    this.contentReads = 0
    this.doneMarks = 0
    this.itlMaxUs = Number.NaN
    this.bytesIn = 0
    this.flags = 0
  }
}

/** Whether a field was there, and not empty: where it was not, its end is none of this reply. */
function says({ start, end }: Span): boolean {
  return start >= 0 && end > start
}
