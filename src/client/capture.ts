import type { Encoding } from '../attempt/outcome.ts'
import type { AnswerMemory } from './memory.ts'
import { withoutKey } from './redaction.ts'

/** A response word for word, except for the key. */
export interface Captured {
  /** Header lines as received, `name: value` separated by \n. */
  readonly headers: string
  readonly body: string
  readonly truncated: boolean
}

/** Captures a response as it arrives: its head, and its body up to a bound. */
export class Capture {
  private readonly key: string
  private readonly maxBytes: number
  private readonly headers: string
  private readonly memory: AnswerMemory
  private readonly pieces: Buffer[] = []
  private bytes = 0
  private missed = false

  constructor(
    key: string,
    maxBytes: number,
    memory: AnswerMemory,
    head: Buffer,
    start: number,
    end: number,
  ) {
    this.key = key
    this.memory = memory
    this.maxBytes = maxBytes
    this.headers = head.toString('latin1', start, end).replaceAll('\r\n', '\n').trimEnd()
  }

  add(bytes: Buffer, start: number, end: number): void {
    // A key that the bound cuts in two would not be recognised, so keep more.
    const room = this.maxBytes + this.key.length * 3 - this.bytes
    const wanted = Math.min(end - start, room)
    // Without memory, a capture is dropped before a response is.
    const kept = !this.missed && this.memory.take(wanted) ? wanted : 0
    if (kept > 0) {
      this.pieces.push(Buffer.from(bytes.subarray(start, start + kept)))
      this.bytes += kept
    }
    if (kept < end - start) this.missed = true
  }

  /** Frees its memory. */
  drop(): void {
    this.memory.give(this.bytes)
    this.bytes = 0
    this.pieces.length = 0
  }

  /** @param encoding of a compressed body, which is not kept because the key cannot be found in it */
  finish(encoding: Encoding | null): Captured {
    const headers = withoutKey(this.headers, this.key)
    if (encoding !== null) {
      return { headers, body: `[not kept: content-encoding ${encoding}]`, truncated: true }
    }
    const whole = withoutKey(Buffer.concat(this.pieces).toString('utf8'), this.key)
    return {
      headers,
      body: whole.slice(0, this.maxBytes),
      truncated: this.missed || whole.length > this.maxBytes,
    }
  }
}
