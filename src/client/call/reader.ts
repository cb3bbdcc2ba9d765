import type { Contract } from '../../contract/contract.ts'
import type { PlainRead } from '../../contract/request.ts'
import { usualOf } from '../../contract/usual.ts'
import type { TlsTexts } from '../wire/authorities.ts'
import { Http1Transport } from '../wire/http1/transport.ts'
import type { Transport } from '../wire/transport.ts'
import { buildTemplate, type PreparedRequest, plainRequest, prepareRequest } from './request.ts'
import { type Received, sendOnce } from './send-once.ts'

/** Large enough for a body with a history of usage, whose totals would otherwise be lost. */
const mostBodyBytes = 16 * 1024 * 1024

/** Reads one endpoint, or one page, of a service with a key, repeatedly over one connection. */
export class Reader {
  private readonly contract: Contract
  private readonly transport: Transport
  private readonly request: PreparedRequest

  /** @param baseUrl an http or https URL, its base path without a trailing slash */
  constructor(
    baseUrl: string,
    key: string | null,
    contract: Contract,
    what: PlainRead | { readonly path: string },
    tls: TlsTexts = {},
  ) {
    const { origin, pathname } = new URL(baseUrl)
    this.contract = contract
    this.transport = new Http1Transport({
      ...tls,
      origin,
      maxConnections: 1,
      connectTimeoutMs: usualOf(contract).timeouts.connectMs,
    })
    const template = buildTemplate(contract, pathname.replace(/\/$/, ''), {
      ...plainRequest,
      ...(typeof what === 'string' ? { endpoint: what } : { endpoint: 'other', path: what.path }),
      method: 'GET',
      // The header is not specified (G-06, G-07), so both carry the key.
      auth: 'both',
    })
    this.request = prepareRequest(template, key)
  }

  /** Never rejects: a failure is an outcome. */
  read(signal?: AbortSignal): Promise<Received> {
    return sendOnce(this.transport, this.request, {
      contract: this.contract,
      now: () => performance.now() * 1000,
      captureBytes: mostBodyBytes,
      ...(signal === undefined ? {} : { signal }),
    })
  }

  close(): Promise<void> {
    return this.transport.close()
  }
}
