import type { Batch } from '../../attempt/batch.ts'
import { copyBytes, viewOf } from '../../attempt/bytes.ts'
import type { Secrets } from '../../user/secrets/secrets.ts'
import type { Span } from '../bytes/span.ts'
import { maxTextLength, textOf } from '../row/response-words.ts'

/** The id of a response, copied into the row as bytes: it differs each time, and becomes a string only on demand. */
export class ResponseId {
  private bytes = new DataView(new ArrayBuffer(64))
  /** -1 for none. */
  private length = -1

  get isKnown(): boolean {
    return this.length >= 0
  }

  get text(): string | null {
    if (this.length < 0) return null
    return Buffer.from(this.bytes.buffer).toString('utf8', 0, this.length)
  }

  clear(): void {
    this.length = -1
  }

  /** Keeps it without a key that a service echoes. */
  keep(bytes: Buffer, span: Span, secrets: Secrets): void {
    const { start, end } = span
    const length = end - start
    if (span.escaped || length > maxTextLength || secrets.mayStandIn(bytes, start, end)) {
      const text = new TextEncoder().encode(textOf(bytes, span, secrets))
      this.bytes = new DataView(text.buffer)
      this.length = text.length
      return
    }
    if (length > this.bytes.byteLength) this.bytes = new DataView(new ArrayBuffer(maxTextLength))
    copyBytes(viewOf(bytes), start, this.bytes, 0, length)
    this.length = length
  }

  writeTo(batch: Batch, row: number): void {
    if (this.length < 0) batch.setText('responseId', row, null)
    else batch.setBytes('responseId', row, this.bytes, this.length)
  }
}
