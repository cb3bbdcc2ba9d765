import { readSync, writeSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import type { SecureContext } from 'node:tls'
import { codeOf, localLimitOf } from '../local-limit.ts'
import { nodeTls } from '../node-tls.ts'
import { isTlsError } from '../tls-error.ts'
import type { Failure, FailureCode, WireExchange, WireRequest, WireSink } from '../transport.ts'
import type { ResponseParser } from './response-parser.ts'

export interface Target {
  readonly host: string
  readonly port: number
  /** Null for plain TCP. */
  readonly secureContext: SecureContext | null
  readonly connectTimeoutMs: number
}

/** Shared objects of the connections of one transport, and its callbacks. */
export interface Pool {
  readonly target: Target
  /** The last TLS session of the service; resuming it saves half a handshake. */
  session: Buffer | null
  /** A recent time at which this thread ran. Bytes that it reads after a stall may have arrived at any time since. */
  readonly awakeMs: number
  /** One read buffer for all sockets: each read is consumed before the next. */
  readonly readBuffer: Buffer
  /** Returns an unused parser; `giveParser` takes it back. */
  takeParser(): ResponseParser
  giveParser(parser: ResponseParser): void
  /** Takes back an exchange that ended well, after its last callback. */
  giveExchange(exchange: Http1Exchange): void
  bytesOf(request: WireRequest): Buffer
  /** The connection may carry another exchange. */
  onIdle(connection: Connection): void
  /** The service closed the connection right after a response, although it had not said so. */
  onEarlyClose(): void
  /** Bytes came that no request had asked for, and the connection is closed. */
  onStray(): void
  /** The connection is closed, idle or not. */
  onClosed(connection: Connection): void
}

/** One exchange: from `dispatch` to its last callback. */
export class Http1Exchange implements WireExchange {
  request: WireRequest
  /** Null once it is over. */
  sink: WireSink | null
  connection: Connection | null = null

  constructor(request: WireRequest, sink: WireSink) {
    this.request = request
    this.sink = sink
  }

  abort(): void {
    if (this.sink === null) return
    this.connection?.leave()
    this.fail('aborted', 'aborted by the client')
  }

  fail(code: FailureCode, message: string): void {
    const { sink } = this
    if (sink === null) return
    this.sink = null
    this.connection = null
    const failure: Failure = { code, message }
    sink.onFailure(failure)
  }
}

/**
 * A socket that carries one exchange after another.
 *
 *     connecting ─▶ busy ◀──▶ idle          each state ─▶ closed, for good
 *
 * There is no pipelining: a response belongs to the current exchange, and unexpected bytes close the
 * connection.
 */
export class Connection {
  /** Index among the idle connections; -1 while it is not idle. */
  idleAt = -1
  /** When it became idle; null during the read that made it so, because nothing can have arrived since. */
  idleSinceMs: number | null = null
  /** Seconds after which the peer closes it while idle; null if it did not state a timeout. */
  keepAliveTimeoutS: number | null = null
  private readonly pool: Pool
  private readonly socket: Socket
  /** Set while a response is read. Most arrive in one read, so all connections take the same parser. */
  private parser: ResponseParser | null = null
  private exchange: Http1Exchange | null
  private connected = false
  /** The socket's file descriptor; -1 if it cannot be written to directly. */
  private fd = -1
  private used = false
  /** Whether the last read filled its buffer. */
  private filled = false
  closed = false
  private connectTimer: NodeJS.Timeout | null
  private readonly beganMs = performance.now()
  /** Time to connect, at least the round trip of the network. */
  private connectMs = 0
  /** When the last response ended; -Infinity before the first. */
  private endedMs = Number.NEGATIVE_INFINITY
  /** How much earlier than its read the last response may have arrived. */
  private unreadMs = 0
  /** When the current request was sent after a time idle that a peer may end; NaN if it was not. */
  private sentAfterIdleMs = Number.NaN

  /** Connects, then sends the exchange. */
  constructor(pool: Pool, exchange: Http1Exchange) {
    this.pool = pool
    this.exchange = exchange
    exchange.connection = this
    const { target, readBuffer } = pool
    const onread = {
      buffer: readBuffer,
      callback: (length: number): boolean => {
        this.onRead(length)
        return true
      },
    }
    const to = { host: target.host, port: target.port, noDelay: true, onread }
    if (target.secureContext === null) {
      this.socket = connect(to)
      this.socket.once('connect', () => this.onConnected())
    } else {
      // Certificates are verified: `rejectUnauthorized` is true by default.
      this.socket = nodeTls().connect({
        ...to,
        secureContext: target.secureContext,
        servername: isAddress(target.host) ? '' : target.host,
        ALPNProtocols: ['http/1.1'],
        ...(pool.session === null ? {} : { session: pool.session }),
      })
      this.socket.on('session', (session: Buffer) => {
        pool.session = session
      })
      this.socket.once('secureConnect', () => this.onConnected())
    }
    this.socket.on('error', (error) => this.onError(error))
    this.socket.on('end', () => this.onEof())
    this.socket.on('close', () => this.close('closed-early', 'the service closed the connection'))
    this.connectTimer = setTimeout(
      () => this.close('connect-timeout', `no connection within ${target.connectTimeoutMs} ms`),
      target.connectTimeoutMs,
    )
  }

  /** Sends the request of the next exchange; the connection must be idle, and was for `idleMs`. */
  send(exchange: Http1Exchange, idleMs = 0): void {
    this.exchange = exchange
    exchange.connection = this
    const mayBeIdleMs = idleMs + this.unreadMs
    this.sentAfterIdleMs = mayBeIdleMs >= shortestTimeoutMs ? performance.now() : Number.NaN
    this.write(exchange)
  }

  /**
   * Whether nothing, that might be taken for the next response, has arrived on an idle socket; null if only the event loop can
   * tell (TLS).
   */
  isQuiet(): boolean | null {
    if (this.fd < 0) return null
    // If there is nothing to read, Node throws; a stack would be a third of the cost.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    try {
      const length = readSync(this.fd, firstBytes)
      if (length > 0 && !isFarewell(firstBytes, length)) this.pool.onStray()
      return false
    } catch (error) {
      return error instanceof Error && 'code' in error && error.code === 'EAGAIN'
    } finally {
      Error.stackTraceLimit = stackTraceLimit
    }
  }

  /** Closes it without a callback to the exchange. */
  leave(): void {
    this.exchange = null
    this.parser?.stop()
    this.destroy()
  }

  private write(exchange: Http1Exchange): void {
    const bytes = this.pool.bytesOf(exchange.request)
    exchange.sink?.onSent(this.used)
    this.used = true
    // The sink may have aborted during the call.
    if (!this.closed) this.writeBytes(bytes)
  }

  /**
   * Writes to the file descriptor directly: nearly all writes finish at once, without a stream's write request. The stream
   * writes what did not fit or failed, and fails with its cause. Its rest never overlaps another exchange (`onDone`).
   */
  private writeBytes(bytes: Buffer): void {
    let written = 0
    // The descriptor of a failed socket is closed and may belong to another.
    if (this.fd >= 0 && !this.socket.destroyed) {
      try {
        written = writeSync(this.fd, bytes)
      } catch {}
    }
    if (written < bytes.length) this.socket.write(bytes.subarray(written))
  }

  private onConnected(): void {
    if (this.connectTimer !== null) clearTimeout(this.connectTimer)
    this.connectTimer = null
    this.connected = true
    this.connectMs = performance.now() - this.beganMs
    if (this.pool.target.secureContext === null) this.fd = fileOf(this.socket)
    if (this.exchange !== null) this.write(this.exchange)
  }

  private onRead(length: number): void {
    const { exchange } = this
    const sink = exchange?.sink ?? null
    if (exchange === null || sink === null) {
      // A TLS socket also reads what is left of an exchange that was given up.
      const isStray = exchange === null && this.used && !this.closed
      if (isStray && !isFarewell(this.pool.readBuffer, length)) this.pool.onStray()
      this.close('protocol', 'bytes that belong to no response')
      return
    }
    this.parser ??= this.pool.takeParser()
    const { parser } = this
    sink.onRead(this.filled)
    this.filled = length === this.pool.readBuffer.length
    const result = parser.read(this.pool.readBuffer, 0, length, sink)
    if (this.exchange !== exchange) return
    switch (result) {
      case 'more':
        return
      case 'done':
        if (parser.position !== length) this.pool.onStray()
        this.onDone(exchange, parser, parser.position === length)
        return
      case 'too-large':
        this.close('too-large', 'the head of the response is beyond 64 KiB')
        return
      case 'protocol':
        this.close('protocol', 'the response is not HTTP/1.1, or breaks its framing')
    }
  }

  /** @param clean whether no bytes followed the response */
  private onDone(exchange: Http1Exchange, parser: ResponseParser, clean: boolean): void {
    const { sink } = exchange
    const { keepAlive, keepAliveTimeoutS } = parser
    this.keepAliveTimeoutS = Number.isNaN(keepAliveTimeoutS) ? null : keepAliveTimeoutS
    this.pool.giveParser(parser)
    this.parser = null
    this.exchange = null
    exchange.sink = null
    exchange.connection = null
    this.endedMs = performance.now()
    this.unreadMs = this.endedMs - this.pool.awakeMs
    // The pool may send the next request at once, so this connection has let go of the exchange, whose end is told last. The next
    // one may not start while this one is still being written.
    if (clean && keepAlive && this.socket.writableLength === 0 && !this.closed) {
      this.idleSinceMs = null
      this.pool.onIdle(this)
    } else this.destroy()
    sink?.onEnd()
    if (this.idleAt !== -1) this.idleSinceMs = performance.now()
    this.pool.giveExchange(exchange)
  }

  private onEof(): void {
    const { exchange, parser } = this
    if (exchange !== null && parser?.eof() === 'done') {
      exchange.sink?.onRead()
      this.onDone(exchange, parser, false)
      return
    }
    this.close('closed-early', 'the service closed the connection before the response was whole')
  }

  private onError(error: Error): void {
    const code = codeOf(error)
    this.close(this.failureCodeOf(code), `${error.message} (${code || error.name})`)
  }

  private failureCodeOf(code: string): FailureCode {
    if (this.connected) return isTlsError(code) ? 'tls' : 'reset'
    if (code === 'ECONNREFUSED') return 'connect-refused'
    if (code === 'ETIMEDOUT') return 'connect-timeout'
    return localLimitOf(code) ?? (isTlsError(code) ? 'tls' : 'connect-failed')
  }

  private close(code: FailureCode, message: string): void {
    const { exchange, parser } = this
    this.exchange = null
    parser?.stop()
    const isEnd = parser === null && (code === 'reset' || code === 'closed-early')
    if (isEnd && !this.closed && performance.now() - this.endedMs < shortestTimeoutMs)
      this.pool.onEarlyClose()
    this.destroy()
    if (isEnd && this.wasClosedIdle()) {
      exchange?.fail('closed-idle', `${message}; it had been idle, and was used again`)
    } else exchange?.fail(code, message)
  }

  /** Whether a close that the peer began before it had the request would arrive now. */
  private wasClosedIdle(): boolean {
    const sinceMs = this.pool.awakeMs - this.sentAfterIdleMs
    return sinceMs <= closeOnItsWayMs + 2 * this.connectMs
  }

  private destroy(): void {
    if (this.closed) return
    this.closed = true
    if (this.connectTimer !== null) clearTimeout(this.connectTimer)
    this.connectTimer = null
    this.fd = -1
    this.socket.destroy()
    this.pool.onClosed(this)
  }
}

/** No timeout of idle connections is shorter. */
export const shortestTimeoutMs = 50
/** Longest time until a close that was on its way is read, besides two round trips. */
const closeOnItsWayMs = 50

/** As many as show whether an answer says goodbye. */
const firstBytes = Buffer.alloc(12)

/** Whether bytes on an idle connection are the 408 with which some servers close one that nobody used. */
const isFarewell = (bytes: Buffer, length: number): boolean =>
  length >= firstBytes.length && /^HTTP\/1\.[01] 408$/.test(bytes.toString('latin1', 0, 12))

/** The file descriptor on the handle of Node's socket; -1 if there is none. */
function fileOf(socket: Socket): number {
  const { _handle: handle } = socket as { readonly _handle?: { readonly fd?: unknown } | null }
  return typeof handle?.fd === 'number' ? handle.fd : -1
}

/** SNI carries names only (RFC 6066, 3). */
const isAddress = (host: string): boolean => /^[\d.]+$/.test(host) || host.includes(':')
