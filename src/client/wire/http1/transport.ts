import { tlsOptions } from '../authorities.ts'
import { nodeTls } from '../node-tls.ts'
import type {
  Transport,
  TransportOptions,
  WireExchange,
  WireRequest,
  WireSink,
} from '../transport.ts'
import {
  Connection,
  Http1Exchange,
  type Pool,
  shortestTimeoutMs,
  type Target,
} from './connection.ts'
import { RequestEncoder } from './request-bytes.ts'
import { ResponseFraming } from './response-framing.ts'
import { ResponseParser } from './response-parser.ts'

/** Interval of checks of idle connections. */
const tickMs = 250
/** Interval of `awakeMs`: well below the shortest timeout of an idle connection. */
const awakeEveryMs = 10
/** A socket that was idle for longer is checked before a write; a check takes about 3 us. */
const unseenMs = 1
/** An idle connection is closed this long before the peer's stated timeout. */
const marginMs = 1000

/**
 * Our own HTTP/1.1 on `node:net` and `node:tls`: no pipelining, no redirects, no retries.
 *
 * A dispatch takes the connection that became idle last, opens one if fewer than the bound are open, or waits its turn.
 *
 * **Stale sockets.** A peer may close an idle connection at any time: it is written to only after a check, and not near its
 * `Keep-Alive` timeout. After bytes were sent, a failure breaks the attempt: the service may have seen it.
 *
 * **Services that close after each answer** without `Connection: close` would lose every second request: after such a close, a
 * connection rests before it is used again, until one has outlived its rest.
 *
 * **Services that answer without a request**: such an answer looks like that of the next request. The connection is closed and
 * counted, and from the first one on, each connection carries one request.
 */
export class Http1Transport implements Transport, Pool {
  readonly target: Target
  session: Buffer | null = null
  awakeMs = performance.now()
  private lastAwakeMs = this.awakeMs
  readonly readBuffer = Buffer.allocUnsafeSlow(64 * 1024)
  private readonly framing = new ResponseFraming(this.readBuffer)
  private readonly parsers: ResponseParser[] = []
  private readonly exchanges: Http1Exchange[] = []
  private readonly encoder: RequestEncoder
  private readonly maxConnections: number
  private readonly openConnections: number
  private readonly idle: Connection[] = []
  private waiting: Http1Exchange[] = []
  private waitingFrom = 0
  private open = 0
  /** Whether a connection rests after a response. */
  private rests = false
  strays = 0
  private restTimer: NodeJS.Timeout | null = null
  private readonly ticker: NodeJS.Timeout
  private readonly waker: NodeJS.Timeout
  private closing: (() => void) | null = null
  private closed: Promise<void> | null = null

  constructor(options: TransportOptions) {
    const url = new URL(options.origin)
    const secure = url.protocol === 'https:'
    this.target = {
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: Number(url.port) || (secure ? 443 : 80),
      secureContext: secure ? nodeTls().createSecureContext(tlsOptions(options)) : null,
      connectTimeoutMs: options.connectTimeoutMs,
    }
    this.maxConnections = options.maxConnections
    this.openConnections = options.openConnections ?? Infinity
    this.encoder = new RequestEncoder(url.host)
    this.ticker = setInterval(() => this.tick(), tickMs)
    this.ticker.unref()
    this.waker = setInterval(() => {
      // After a stall, timers run before sockets are read: the last time would be one after it.
      this.awakeMs = this.lastAwakeMs
      this.lastAwakeMs = performance.now()
    }, awakeEveryMs)
    this.waker.unref()
  }

  dispatch(request: WireRequest, sink: WireSink): WireExchange {
    const exchange = this.exchangeOf(request, sink)
    if (this.closed !== null) {
      queueMicrotask(() => exchange.fail('aborted', 'the transport is closed'))
      return exchange
    }
    this.place(exchange)
    return exchange
  }

  close(): Promise<void> {
    this.closed ??= new Promise<void>((resolve) => {
      clearInterval(this.ticker)
      clearInterval(this.waker)
      if (this.restTimer !== null) clearTimeout(this.restTimer)
      this.closing = resolve
      for (const connection of [...this.idle]) connection.leave()
      this.settleClose()
    })
    return this.closed
  }

  bytesOf(request: WireRequest): Buffer {
    return this.encoder.encode(request)
  }

  takeParser(): ResponseParser {
    return this.parsers.pop() ?? new ResponseParser(this.framing)
  }

  giveParser(parser: ResponseParser): void {
    parser.reset()
    this.parsers.push(parser)
  }

  giveExchange(exchange: Http1Exchange): void {
    this.exchanges.push(exchange)
  }

  private exchangeOf(request: WireRequest, sink: WireSink): Http1Exchange {
    const exchange = this.exchanges.pop()
    if (exchange === undefined) return new Http1Exchange(request, sink)
    exchange.request = request
    exchange.sink = sink
    return exchange
  }

  onIdle(connection: Connection): void {
    if (this.strays > 0 || (this.closed !== null && !this.hasWaiting())) {
      connection.leave()
      return
    }
    const next = this.rests && this.closed === null ? null : this.nextWaiting()
    if (next !== null) {
      connection.send(next)
      return
    }
    connection.idleAt = this.idle.length
    this.idle.push(connection)
    if (this.rests && this.hasWaiting()) this.lookAfterRest()
  }

  onEarlyClose(): void {
    this.rests = true
  }

  onStray(): void {
    this.strays++
    for (const connection of [...this.idle]) connection.leave()
  }

  onClosed(connection: Connection): void {
    this.open--
    this.takeFromIdle(connection)
    const next = this.nextWaiting()
    if (next !== null) this.place(next)
    this.settleClose()
  }

  private place(exchange: Http1Exchange): void {
    for (;;) {
      const connection = this.takeIdle()
      if (connection === null) break
      const idleMs = idleMsOf(connection)
      const quiet = idleMs < unseenMs || connection.isQuiet()
      if (quiet === false || expires(connection, idleMs)) {
        connection.leave()
        continue
      }
      // It outlived its rest.
      this.rests = false
      if (quiet) connection.send(exchange, idleMs)
      else this.sendAfterLook(connection, exchange, idleMs)
      return
    }
    if (this.open >= this.openConnections && this.open < this.maxConnections) {
      queueMicrotask(() =>
        exchange.fail('no-open-file', "the other descriptors are the recorder's"),
      )
    } else if (this.open < this.maxConnections) {
      this.open++
      new Connection(this, exchange)
    } else {
      this.waiting.push(exchange)
      if (this.rests && this.idle.length > 0) this.lookAfterRest()
    }
  }

  private takeIdle(): Connection | null {
    const connection = this.nextIdle()
    if (connection === undefined) return null
    this.takeFromIdle(connection)
    return connection
  }

  /** The connection that became idle last, or if they rest, any that has. */
  private nextIdle(): Connection | undefined {
    return this.rests
      ? this.idle.find((each) => idleMsOf(each) >= shortestTimeoutMs)
      : this.idle.at(-1)
  }

  /** Places waiting requests once an idle connection has rested. */
  private lookAfterRest(): void {
    this.restTimer ??= setTimeout(() => {
      this.restTimer = null
      while (this.hasWaiting() && this.nextIdle() !== undefined) this.place(this.nextWaiting()!)
      if (this.hasWaiting() && this.idle.length > 0) this.lookAfterRest()
    }, shortestTimeoutMs)
  }

  /** Lets the event loop read the connection, then sends. */
  private sendAfterLook(connection: Connection, exchange: Http1Exchange, idleMs: number): void {
    afterLook(() => {
      if (exchange.sink === null) {
        if (!connection.closed) this.onIdle(connection)
      } else if (connection.closed) this.place(exchange)
      else connection.send(exchange, idleMs)
    })
  }

  private tick(): void {
    for (const connection of [...this.idle]) {
      if (expires(connection, idleMsOf(connection))) connection.leave()
    }
  }

  private hasWaiting(): boolean {
    while (this.waitingFrom < this.waiting.length) {
      if (this.waiting[this.waitingFrom]!.sink !== null) return true
      this.waitingFrom++
    }
    return false
  }

  /** The exchange that has waited longest; aborted ones are skipped. */
  private nextWaiting(): Http1Exchange | null {
    if (!this.hasWaiting()) {
      if (this.waiting.length > 0) this.waiting = []
      this.waitingFrom = 0
      return null
    }
    const next = this.waiting[this.waitingFrom++]!
    if (this.waitingFrom > 1024 && this.waitingFrom * 2 > this.waiting.length) {
      this.waiting = this.waiting.slice(this.waitingFrom)
      this.waitingFrom = 0
    }
    return next
  }

  private takeFromIdle(connection: Connection): void {
    if (connection.idleAt === -1) return
    const last = this.idle.pop()!
    if (last !== connection) {
      this.idle[connection.idleAt] = last
      last.idleAt = connection.idleAt
    }
    connection.idleAt = -1
  }

  private settleClose(): void {
    if (this.open === 0) this.closing?.()
  }
}

/** Calls back after the loop has polled all sockets. The current turn may have polled already, so it waits for two. */
function afterLook(then: () => void): void {
  setImmediate(() => setImmediate(then))
}

const idleMsOf = ({ idleSinceMs }: Connection): number =>
  idleSinceMs === null ? 0 : performance.now() - idleSinceMs

/** Whether the peer will soon close the idle connection; false if it stated no timeout. */
function expires(connection: Connection, idleMs: number): boolean {
  if (connection.keepAliveTimeoutS === null) return false
  const timeoutMs = connection.keepAliveTimeoutS * 1000
  return idleMs > timeoutMs - Math.min(marginMs, timeoutMs / 2)
}
