import { type Dispatcher, Pool, ProxyAgent } from 'undici'
import { authorities } from '../authorities.ts'
import { linesOf } from '../headers.ts'
import { maxHeadBytes } from '../limits.ts'
import { isTlsError } from '../tls-error.ts'
import type {
  Exchange,
  ExchangeSink,
  Failure,
  FailureCode,
  Transport,
  TransportOptions,
  WireRequest,
} from '../transport.ts'

export interface UndiciOptions extends TransportOptions {
  /** Speak HTTP/2 where the service offers it; false unless given. */
  readonly http2?: boolean
  /** URL of an HTTP proxy. */
  readonly proxy?: string
}

/**
 * The transport for proxies and HTTP/2, and the oracle of our own HTTP/1.1.
 *
 * undici's own deadlines are off: they aim at half-second accuracy, and deadlines are ours.
 * `sent` is stamped in `onRequestStart`, called just before the write; at `dispatch` it would be
 * early by the pool wait, the connecting, and the turn by which undici puts off an idle socket.
 */
export class UndiciTransport implements Transport {
  private readonly dispatcher: Dispatcher
  private readonly origin: string

  constructor(options: UndiciOptions) {
    this.origin = options.origin
    const tls = authorities(options.ca)
    const pool: Pool.Options = {
      connections: Number.isFinite(options.maxConnections) ? options.maxConnections : null,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: 60_000,
      maxHeaderSize: maxHeadBytes,
      allowH2: options.http2 ?? false,
      connect: { timeout: options.connectTimeoutMs, noDelay: true, ...tls },
    }
    this.dispatcher =
      options.proxy === undefined
        ? new Pool(options.origin, pool)
        : new ProxyAgent({
            ...pool,
            uri: options.proxy,
            // Through a tunnel the proxy cannot touch what is measured, plain HTTP or not.
            proxyTunnel: true,
            requestTls: tls,
            proxyTls: tls,
          })
  }

  dispatch(request: WireRequest, sink: ExchangeSink): Exchange {
    const exchange = new UndiciExchange(sink)
    this.dispatcher.dispatch(
      {
        origin: this.origin,
        path: request.path,
        method: request.method,
        headers: request.headers.flat(),
        body: request.body.length > 0 ? request.body : null,
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

class UndiciExchange implements Exchange, Dispatcher.DispatchHandler {
  /** Null once the exchange is over. */
  private sink: ExchangeSink | null
  private controller: Dispatcher.DispatchController | null = null
  private begun = false
  private chunks: Buffer[] = []
  /** Whether `dispatch` has returned. */
  dispatched = false

  constructor(sink: ExchangeSink) {
    this.sink = sink
  }

  abort(): void {
    const { sink } = this
    if (sink === null) return
    this.sink = null
    this.controller?.abort(new Error('aborted by the client'))
    sink.onFailure({ code: 'aborted', message: 'aborted by the client' })
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller
    if (this.sink === null) {
      controller.abort(new Error('aborted by the client'))
      return
    }
    this.begun = true
    // undici does not say whether the socket had carried a request before.
    this.sink.onSent(false)
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    if (this.sink === null || status < 200) return
    const head = headOf(controller.rawHeaders)
    this.sink.onRead()
    this.sink.onHead(status, head, 0, head.length, linesOf(head))
  }

  /** undici hands on each chunk of a read; we hand on what one turn brought, as the contract says. */
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
    const { sink } = this
    this.sink = null
    sink?.onRead()
    sink?.onEnd()
  }

  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    if (!this.dispatched) {
      // A closed pool refuses during the call.
      queueMicrotask(() => this.onResponseError(controller, error))
      return
    }
    this.handOn()
    const { sink } = this
    this.sink = null
    sink?.onFailure(failureOf(error, this.begun))
  }
}

/** The header lines again, from undici's list of names and values. */
function headOf(raw: Dispatcher.DispatchController['rawHeaders']): Buffer {
  if (raw === null || raw === undefined) return noBytes
  const cells = Array.isArray(raw) ? raw : Object.entries(raw).flat(2)
  let lines = ''
  for (let at = 0; at + 1 < cells.length; at += 2) {
    lines += `${latin1(cells[at])}: ${latin1(cells[at + 1])}\r\n`
  }
  return Buffer.from(lines, 'latin1')
}

function latin1(cell: Buffer | string | undefined): string {
  return typeof cell === 'string' ? cell : (cell?.toString('latin1') ?? '')
}

function failureOf(error: Error, begun: boolean): Failure {
  const code =
    'code' in error && typeof error.code === 'string'
      ? error.code
      : error.name === 'HTTPParserError'
        ? 'HPE_'
        : ''
  return { code: failureCodeOf(code, begun), message: `${error.message} (${code || error.name})` }
}

function failureCodeOf(code: string, begun: boolean): FailureCode {
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return 'connect-timeout'
  if (code === 'ECONNREFUSED') return 'connect-refused'
  if (isTlsError(code)) return 'tls'
  if (!begun) return 'connect-failed'
  if (code === 'UND_ERR_HEADERS_OVERFLOW' || code === 'HPE_HEADER_OVERFLOW') return 'too-large'
  if (code === 'UND_ERR_SOCKET' || code === 'HPE_INVALID_EOF_STATE') return 'closed-early'
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') return 'closed-early'
  if (code.startsWith('HPE_')) return 'protocol'
  return 'reset'
}
