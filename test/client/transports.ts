import { onTestFinished } from 'vitest'
import { Http1Transport } from '../../src/client/wire/http1/transport.ts'
import type {
  Failure,
  Transport,
  TransportOptions,
  WireExchange,
  WireRequest,
} from '../../src/client/wire/transport.ts'
import { UndiciTransport } from '../../src/client/wire/undici/transport.ts'

export const transports: readonly (readonly [
  name: string,
  open: (options: TransportOptions) => Transport,
])[] = [
  ['http1', (options) => new Http1Transport(options)],
  ['undici', (options) => new UndiciTransport(options)],
]

/** The result of one exchange, with the order of its callbacks. */
export interface Exchanged {
  readonly status: number | null
  readonly head: string
  readonly body: string
  /** Pieces of the body as they were passed on. */
  readonly pieces: readonly string[]
  readonly failure: Failure | null
  readonly calls: readonly string[]
  readonly reused: boolean
  /** Of each read, whether the one before had filled its buffer. */
  readonly reads: readonly boolean[]
}

export interface Hooks {
  readonly onSent?: () => void
  readonly onHead?: () => void
  readonly onBody?: () => void
}

export const getRequest: WireRequest = {
  method: 'GET',
  path: '/',
  headers: [['accept', '*/*']],
  body: new Uint8Array(0),
}

export function openOn(
  open: (options: TransportOptions) => Transport,
  origin: string,
  options: Partial<TransportOptions> = {},
): Transport {
  const transport = open({
    origin,
    maxConnections: Number.POSITIVE_INFINITY,
    connectTimeoutMs: 5000,
    ...options,
  })
  onTestFinished(() => {
    // Not awaited: a test may leave exchanges that never end.
    transport.close().catch(() => {})
  })
  return transport
}

/** Dispatches and collects; the promise resolves at the last callback. */
export function exchange(
  transport: Transport,
  request: WireRequest = getRequest,
  hooks: Hooks = {},
): { readonly done: Promise<Exchanged>; readonly handle: WireExchange } {
  const calls: string[] = []
  const pieces: string[] = []
  let status: number | null = null
  let head = ''
  let reused = false
  const reads: boolean[] = []
  const { promise, resolve } = Promise.withResolvers<Exchanged>()
  const end = (failure: Failure | null) =>
    resolve({ status, head, body: pieces.join(''), pieces, failure, calls, reused, reads })
  const handle = transport.dispatch(request, {
    onSent: (again) => {
      calls.push('sent')
      reused = again
      hooks.onSent?.()
    },
    onRead: (isContinued = false) => {
      reads.push(isContinued)
    },
    onHead: (code, bytes, start, stop) => {
      calls.push('head')
      status = code
      head = bytes.toString('latin1', start, stop)
      hooks.onHead?.()
    },
    onBody: (bytes, start, stop) => {
      calls.push('body')
      pieces.push(bytes.toString('latin1', start, stop))
      hooks.onBody?.()
    },
    onEnd: () => {
      calls.push('end')
      end(null)
    },
    onFailure: (failure) => {
      calls.push('failure')
      end(failure)
    },
  })
  return { done: promise, handle }
}
