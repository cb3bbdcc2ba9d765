import type { LocalLimit } from '../attempt/outcome.ts'
import type { TlsTexts } from './authorities.ts'

/**
 * One HTTP exchange, as the line needs it: bytes out, stamps and bytes in, no object per header
 * and no string that nobody asked for. Two implementations pass one contract suite: undici, and
 * our own HTTP/1.1 on `node:net` and `node:tls`.
 *
 *     dispatch ─▶ onSent ─▶ onHead ─▶ onBody* ─▶ onEnd
 *                    └────────┴─────────┴──────▶ onFailure     (exactly one of the two, once)
 *
 * `onRead` comes before the first thing of each read of the socket: one stamp for all of it.
 *
 * No retries, no redirects, no decompression, no deadlines of its own: those are policy, and an
 * attempt is a row.
 */

/** The bytes of one request: head and body as they go on the wire in HTTP/1.1 order. */
export interface WireRequest {
  readonly method: 'GET' | 'POST' | 'OPTIONS' | 'DELETE' | 'PUT'
  /** Path and query, as sent. */
  readonly path: string
  /** Name and value pairs without Host, Content-Length and Connection, which are the transport's. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Empty for none. */
  readonly body: Uint8Array
}

export type FailureCode =
  | 'connect-refused'
  | 'connect-failed'
  | 'connect-timeout'
  /** This machine's own: nothing reached the service. */
  | LocalLimit
  | 'tls'
  /** The peer reset or the socket failed after the request began. */
  | 'reset'
  /** The peer closed before the response was whole. */
  | 'closed-early'
  /** What came is not HTTP, or breaks its framing. */
  | 'protocol'
  /** Another's transport gave up and does not say what it could not read. */
  | 'unparsable'
  /** Head or body beyond the limits of the transport. */
  | 'too-large'
  /** `abort()` was called. */
  | 'aborted'

export interface Failure {
  readonly code: FailureCode
  /** For a person; never holds request headers. */
  readonly message: string
}

/**
 * Where the lines of a head lie, so that nobody scans them twice: three offsets each, of the name,
 * of the colon, and of the line's end (at its CR). It belongs to the transport, as the bytes do.
 */
export interface HeaderLines {
  readonly count: number
  /** Heads of one shape differ in the values of `varying` lines alone; 0 when nobody knows. */
  readonly shape: number
  /** Where the offsets of lines that may differ begin. */
  readonly varying: readonly number[]
  /** Of a head of a known shape, those of `varying` lines only, until `locate` is called. */
  readonly offsets: Int32Array
  /** Fills the offsets of all lines. */
  locate(): void
}

/** Receives one exchange. Buffers belong to the transport and are valid during the call only. */
export interface WireSink {
  /** The first byte of the request is about to be written to a connected socket. */
  onSent(reusedConnection: boolean): void
  /**
   * Bytes came, or the end of them: `onHead`, `onBody` and `onEnd` that follow until the next call
   * tell what they were. It may come for nothing, as for a part of a head.
   */
  onRead(): void
  /**
   * The final response head is complete (1xx heads are skipped).
   * `head[start..end)` holds the header lines, `Name: value\r\n` each, without the status line.
   */
  onHead(status: number, head: Buffer, start: number, end: number, lines: HeaderLines): void
  /**
   * A piece of the body, after transfer decoding: all that one read of the socket brought, so that
   * whoever stamps the call stamps the read, however the service cut its chunks.
   */
  onBody(bytes: Buffer, start: number, end: number): void
  onEnd(): void
  onFailure(failure: Failure): void
}

/** A running exchange; not to be used after `onEnd` or `onFailure`. */
export interface WireExchange {
  /** Ends it now: its connection is closed, and `onFailure` comes with `aborted` during the call. */
  abort(): void
}

export interface Transport {
  /** Starts one exchange. `onSent` may come during the call, all other callbacks come later. */
  dispatch(request: WireRequest, sink: WireSink): WireExchange
  /** Closes idle connections at once and busy ones when they are done. */
  close(): Promise<void>
}

export interface TransportOptions extends TlsTexts {
  /** Scheme, host and port; a path is not part of it. */
  readonly origin: string
  /** Upper bound of connections; Infinity unless a scenario says otherwise. */
  readonly maxConnections: number
  /** When a connection attempt is given up; the deadline of an attempt may come sooner. */
  readonly connectTimeoutMs: number
}
