import type { Encoding } from '../../attempt/outcome.ts'
import type { Secrets } from '../../user/secrets/secrets.ts'
import type { ResponseMemory } from '../bytes/memory.ts'

/** A response word for word, except for keys. */
export interface Captured {
  /** Header lines as received, `name: value` separated by \n. */
  readonly headers: string
  readonly body: string
  readonly truncated: boolean
}

/** A body as it arrived, keys included: it stays in memory. */
export interface RawBody {
  readonly bytes: Uint8Array
  readonly truncated: boolean
}

/** Captures a response as it arrives: its head, and its body up to a bound. */
export class Capture {
  private readonly secrets: Secrets
  private readonly maxBytes: number
  private readonly headers: string
  private readonly memory: ResponseMemory
  private readonly pieces: Buffer[] = []
  private bytes = 0
  private missed = false

  constructor(
    secrets: Secrets,
    maxBytes: number,
    memory: ResponseMemory,
    head: Buffer,
    start: number,
    end: number,
  ) {
    this.secrets = secrets
    this.memory = memory
    this.maxBytes = maxBytes
    this.headers = head.toString('latin1', start, end).replaceAll('\r\n', '\n').trimEnd()
  }

  add(bytes: Buffer, start: number, end: number): void {
    // A key that the bound cuts in two would not be recognised, so keep more: three bytes a letter, as `%41` has.
    const room = this.maxBytes + this.secrets.longest * 3 - this.bytes
    const wanted = Math.min(end - start, room)
    // Without memory, a capture is dropped before a response is.
    const kept = !this.missed && this.memory.take(wanted) ? wanted : 0
    if (kept > 0) {
      this.pieces.push(Buffer.from(bytes.subarray(start, start + kept)))
      this.bytes += kept
    }
    if (kept < end - start) this.missed = true
  }

  drop(): void {
    this.memory.give(this.bytes)
    this.bytes = 0
    this.pieces.length = 0
  }

  /** The body alone, without the cost of looking for keys; null if it is compressed. */
  raw(encoding: Encoding | null): RawBody | null {
    if (encoding !== null) return null
    // A copy of its own memory: a small one would bring the whole pool of Node's buffers to another thread.
    const bytes = new Uint8Array(this.bytes)
    let at = 0
    for (const piece of this.pieces) {
      bytes.set(piece, at)
      at += piece.length
    }
    return { bytes, truncated: this.missed || this.bytes > this.maxBytes }
  }

  /** @param encoding of a compressed body, which is not kept because the key cannot be found in it */
  finish(encoding: Encoding | null): Captured {
    const headers = this.secrets.without(this.headers)
    if (encoding !== null)
      return { headers, body: `[not kept: content-encoding ${encoding}]`, truncated: true }
    const whole = this.secrets.without(Buffer.concat(this.pieces).toString('utf8'))
    return {
      headers,
      body: whole.slice(0, this.maxBytes),
      truncated: this.missed || whole.length > this.maxBytes,
    }
  }
}
