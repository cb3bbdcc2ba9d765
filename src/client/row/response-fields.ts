import type { Batch, Dictionary } from '../../attempt/batch.ts'
import type { Outcome } from '../../attempt/outcome.ts'
import { DocumentFields } from '../document/document-fields.ts'
import {
  columnsOf,
  isPlainSuccess,
  type ResponseColumns,
  type ResponseValues,
  writeColumns,
  writeOwnColumns,
} from './columns.ts'

/** The response half of a row: fields are columns, NaN for null. */
export class ResponseFields extends DocumentFields implements ResponseValues {
  dispatchedUs = Number.NaN
  sentUs = Number.NaN
  headersUs = Number.NaN
  closedUs = Number.NaN
  outcome: Outcome = 'ok'
  reason: string | null = null
  status = Number.NaN
  creditsRemaining = Number.NaN
  rateLimit = Number.NaN
  rateRemaining = Number.NaN
  rateReset = Number.NaN
  tokenLimit = Number.NaN
  tokenRemaining = Number.NaN
  tokenReset = Number.NaN
  retryAfter = Number.NaN
  dateS = Number.NaN

  get responseId(): string | null {
    return this.id.text
  }

  /** Writes the response half into row `batch.rows`; the caller fills the rest and adds the row. */
  writeTo(batch: Batch, words: Dictionary): void {
    writeColumns(this, batch, words)
  }

  get isPlainSuccess(): boolean {
    return isPlainSuccess(this)
  }

  /** The same for a plain success after another, without `plainSuccessColumns`. */
  writeOwnTo(batch: Batch, words: Dictionary): void {
    writeOwnColumns(this, batch, words)
  }

  /** The response half as an object, for probes and tests. */
  toColumns(): ResponseColumns {
    return columnsOf(this)
  }

  /** Resets the fields that not every attempt sets. */
  protected clear(): void {
    this.clearDocument()
    this.sentUs = Number.NaN
    this.headersUs = Number.NaN
    this.closedUs = Number.NaN
    this.reason = null
    this.status = Number.NaN
    this.creditsRemaining = Number.NaN
    this.rateLimit = Number.NaN
    this.rateRemaining = Number.NaN
    this.rateReset = Number.NaN
    this.tokenLimit = Number.NaN
    this.tokenRemaining = Number.NaN
    this.tokenReset = Number.NaN
    this.retryAfter = Number.NaN
    this.dateS = Number.NaN
  }
}
