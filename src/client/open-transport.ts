import { Http1Transport } from './http1/transport.ts'
import type { Transport } from './transport.ts'
import { type UndiciOptions, UndiciTransport } from './undici/transport.ts'

/** Our own HTTP/1.1, or undici for a proxy or HTTP/2. */
export function openTransport(options: UndiciOptions): Transport {
  return options.proxy !== undefined || options.http2 === true
    ? new UndiciTransport(options)
    : new Http1Transport(options)
}
