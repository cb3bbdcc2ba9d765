import type { LocalLimit } from '../../attempt/outcome.ts'
import type { Method } from '../../contract/request.ts'
import type { TlsTexts } from './authorities.ts'

/**
 * One HTTP exchange in bytes, without objects or strings for headers. Two implementations pass one
 * contract suite: undici, and our own HTTP/1.1 on `node:net` and `node:tls`.
 *
 *     dispatch ─▶ onSent ─▶ onHead ─▶ onBody* ─▶ onEnd
 *                    └────────┴─────────┴──────▶ onFailure     (exactly one of the two, once)
 *
 * `onRead` precedes the callbacks of each read of the socket, so that they share one time stamp.
 *
 * A transport has no retries, redirects, decompression or deadlines, because each attempt is one row.
 */

/** One request, with headers in the order on the wire. */
export interface WireRequest {
  readonly method: Method
  /** Path and query, as sent. */
  readonly path: string
  /** Name and value pairs without Host, Content-Length and Connection, which the transport sets. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Empty for none. */
  readonly body: Uint8Array
}

export type FailureCode =
  | 'connect-refused'
  | 'connect-failed'
  | 'connect-timeout'
  /** This machine ran out of a resource; nothing reached the service. */
  | LocalLimit
  | 'tls'
  /** The peer reset the connection, or the socket failed after the request began. */
  | 'reset'
  /** The peer closed before the response was complete. */
  | 'closed-early'
  /** The peer closed an idle connection at once when it was used again, most likely before it read the request. */
  | 'closed-idle'
  /** The response is not HTTP, or breaks its framing. */
  | 'protocol'
  /** undici failed without naming the cause. */
  | 'unparsable'
  /** Head or body beyond the limits of the transport. */
  | 'too-large'
  | 'aborted'

export interface Failure {
  readonly code: FailureCode
  /** For people; never has request headers. */
  readonly message: string
}

/** Offsets of a head's lines, scanned once: three each, of the name, the colon and the end (its CR). The transport's, as the bytes. */
export interface HeaderLines {
  readonly count: number
  /** Heads of one shape differ only in the values of `varying` lines; 0 if unknown. */
  readonly shape: number
  /** Indexes in `offsets` of the lines that may differ. */
  readonly varying: readonly number[]
  /** For a known shape, only those of `varying` lines are filled, until `locate` is called. */
  readonly offsets: Int32Array
  /** Fills the offsets of all lines. */
  locate(): void
}

/** Receives one exchange. Buffers belong to the transport and are valid during the call only. */
export interface WireSink {
  /** The first byte of the request is about to be written to a connected socket. */
  onSent(reusedConnection: boolean): void
  /**
   * Bytes or the end were read; the callbacks that follow (none for a part of a head) belong to this read. `isContinued`: the
   * read before filled its buffer, so that these may have arrived since.
   */
  onRead(isContinued?: boolean): void
  /** The final response head is complete; `head[start..end)` has its header lines, `Name: value\r\n` each. */
  onHead(status: number, head: Buffer, start: number, end: number, lines: HeaderLines): void
  /** The part of the body in one read, after transfer decoding: time stamps are of reads, however the service cuts its chunks. */
  onBody(bytes: Buffer, start: number, end: number): void
  onEnd(): void
  onFailure(failure: Failure): void
}

/** A running exchange. Do not use it after `onEnd` or `onFailure`. */
export interface WireExchange {
  /** Closes its connection, and calls `onFailure` with `aborted` before it returns. */
  abort(): void
}

export interface Transport {
  /** Starts one exchange. Only `onSent` may be called before it returns. */
  dispatch(request: WireRequest, sink: WireSink): WireExchange
  /** Closes idle connections at once, and busy ones when they are done. */
  close(): Promise<void>
  /** Connections on which bytes came that no request had asked for; absent if the transport cannot tell. */
  readonly strays?: number
}

export interface TransportOptions extends TlsTexts {
  /** Scheme, host and port, without a path. */
  readonly origin: string
  /** Infinity for no bound. */
  readonly maxConnections: number
  /** Connections for which this process has descriptors. A request that needs one more is not sent. Default: no bound; undici has none. */
  readonly openConnections?: number
  /** Longest time to connect; the deadline of an attempt may be earlier. */
  readonly connectTimeoutMs: number
}
