import { buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici'
import { linesOf } from '../../head/headers.ts'
import { tlsOptions } from '../authorities.ts'
import { maxHeadBytes } from '../limits.ts'
import type {
  FailureCode,
  Transport,
  TransportOptions,
  WireExchange,
  WireRequest,
  WireSink,
} from '../transport.ts'
import { failureOf, isOutOfPlace, type Progress } from './failure.ts'

export interface UndiciOptions extends TransportOptions {
  /** Use HTTP/2 if the service offers it. Default: false. */
  readonly http2?: boolean
  /** URL of an HTTP proxy. */
  readonly proxy?: string
}

/**
 * The transport for proxies and HTTP/2, and the oracle in tests of our own HTTP/1.1.
 *
 * undici's deadlines are off: they are accurate only to half a second. `sent` is stamped in `onRequestStart`, just before the
 * write: at `dispatch` it would be early by the wait for a connection. After the first answer without a request, each connection
 * carries one; HTTP/2 has none, as an answer names its request.
 */
export class UndiciTransport implements Transport {
  private readonly dispatcher: Dispatcher
  private readonly origin: string
  /** Set in the turn in which a socket fails: an end in that turn is not the service's. */
  private isResetting = false
  /** Errors that an exchange got. */
  private readonly told = new WeakSet<Error>()
  strays = 0

  constructor(options: UndiciOptions) {
    this.origin = options.origin
    const tls = tlsOptions(options)
    const pool: Pool.Options = {
      connections: Number.isFinite(options.maxConnections) ? options.maxConnections : null,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: 60_000,
      maxHeaderSize: maxHeadBytes,
      allowH2: options.http2 ?? false,
    }
    const connect = {
      timeout: options.connectTimeoutMs,
      noDelay: true,
      allowH2: options.http2 ?? false,
      ...tls,
    }
    this.dispatcher =
      options.proxy === undefined
        ? this.counted(
            new Pool(options.origin, { ...pool, connect: this.watched(buildConnector(connect)) }),
          )
        : new ProxyAgent({
            ...pool,
            connect,
            factory: (origin, given) => this.counted(new Pool(origin, given)),
            uri: options.proxy,
            // Through a tunnel, the proxy cannot change the exchange, even with plain HTTP.
            proxyTunnel: true,
            requestTls: tls,
            // Only the service gets the client's certificate.
            proxyTls: options.ca === undefined ? {} : tlsOptions({ ca: options.ca }),
          })
  }

  /** Notices errors before undici, which takes a reset for the end of a body without a length. */
  private watched(connect: buildConnector.connector): buildConnector.connector {
    return (options, callback) =>
      connect(options, (...result) => {
        result[1]?.prependListener('error', () => {
          this.isResetting = true
          process.nextTick(() => {
            this.isResetting = false
          })
        })
        callback(...result)
      })
  }

  /** Counts connections that end with bytes that no exchange could be told of. */
  private counted(pool: Pool): Pool {
    return pool.on('disconnect', (_origin, _targets, error) => {
      if (isOutOfPlace(error) && !this.told.has(error)) this.strays++
    })
  }

  dispatch(request: WireRequest, sink: WireSink): WireExchange {
    const exchange = new UndiciExchange(sink, () => this.isResetting, this.told)
    this.dispatcher.dispatch(
      {
        origin: this.origin,
        path: request.path,
        method: request.method,
        headers: request.headers.flat(),
        body: request.body.length > 0 ? request.body : null,
        // Closes the connection after the answer.
        reset: this.strays > 0,
      },
      exchange,
    )
    exchange.dispatched = true
    return exchange
  }

  async close(): Promise<void> {
    await this.dispatcher.close()
  }
}

const noBytes = Buffer.alloc(0)

class UndiciExchange implements WireExchange, Dispatcher.DispatchHandler {
  /** Null once the exchange is over. */
  private sink: WireSink | null
  private controller: Dispatcher.DispatchController | null = null
  private progress: Progress = 'connecting'
  private readonly isResetting: () => boolean
  private readonly told: WeakSet<Error>
  private chunks: Buffer[] = []
  dispatched = false

  constructor(sink: WireSink, isResetting: () => boolean, told: WeakSet<Error>) {
    this.sink = sink
    this.isResetting = isResetting
    this.told = told
  }

  abort(): void {
    this.end('aborted', 'aborted by the client')
  }

  private end(code: FailureCode, message: string): void {
    const { sink } = this
    if (sink === null) return
    this.sink = null
    this.controller?.abort(new Error(message))
    sink.onFailure({ code, message })
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller
    if (this.sink === null) {
      controller.abort(new Error('aborted by the client'))
      return
    }
    if (this.progress !== 'connecting') {
      // An attempt is one request, but undici would resend a refused stream.
      this.end('reset', 'the service refused the stream (REFUSED_STREAM)')
      return
    }
    this.progress = 'sent'
    // undici does not show whether the connection was reused.
    this.sink.onSent(false)
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    if (this.sink === null || status < 200) return
    const head = headOf(controller.rawHeaders)
    this.progress = Array.isArray(controller.rawHeaders) ? 'head' : 'head of HTTP/2'
    this.sink.onRead()
    this.sink.onHead(status, head, 0, head.length, linesOf(head))
  }

  /** undici passes on each chunk; the contract of `onBody` requires all of one read at once. */
  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.sink === null) return
    if (this.chunks.length === 0) queueMicrotask(() => this.handOn())
    this.chunks.push(chunk)
  }

  private handOn(): void {
    const { chunks } = this
    if (chunks.length === 0) return
    this.chunks = []
    const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
    this.sink?.onRead()
    this.sink?.onBody(bytes, 0, bytes.length)
  }

  onResponseEnd(): void {
    this.handOn()
    if (this.isResetting()) {
      this.end('reset', 'the connection was reset')
      return
    }
    const { sink } = this
    this.sink = null
    sink?.onRead()
    sink?.onEnd()
  }

  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    this.told.add(error)
    if (!this.dispatched) {
      // A closed pool refuses before `dispatch` returns.
      queueMicrotask(() => this.onResponseError(controller, error))
      return
    }
    this.handOn()
    const { sink } = this
    this.sink = null
    sink?.onFailure(failureOf(error, this.progress))
  }
}

/** Rebuilds the header lines from undici's list of names and values. */
function headOf(raw: Dispatcher.DispatchController['rawHeaders']): Buffer {
  if (raw === null || raw === undefined) return noBytes
  const cells = Array.isArray(raw) ? raw : Object.entries(raw).flat(2)
  let lines = ''
  for (let at = 0; at + 1 < cells.length; at += 2)
    lines += `${latin1(cells[at])}: ${latin1(cells[at + 1])}\r\n`
  return Buffer.from(lines, 'latin1')
}

const latin1 = (cell: Buffer | string | undefined): string =>
  typeof cell === 'string' ? cell : (cell?.toString('latin1') ?? '')
