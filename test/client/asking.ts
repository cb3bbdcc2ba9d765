import type { Deadlines } from '../../src/client/call/deadlines.ts'
import {
  buildTemplate,
  type PreparedRequest,
  plainRequest,
  prepareRequest,
  type RequestSpec,
} from '../../src/client/call/request.ts'
import { type Received, type SendOnceOptions, sendOnce } from '../../src/client/call/send-once.ts'
import { Http1Transport } from '../../src/client/wire/http1/transport.ts'
import { defaultContract } from '../../src/contract/default.ts'

export const key = 'sk-test-1234567890'
export const now = () => performance.now() * 1000

export const noDeadlines: Deadlines = {
  connectUs: Number.POSITIVE_INFINITY,
  firstByteUs: Number.POSITIVE_INFINITY,
  idleUs: Number.POSITIVE_INFINITY,
  totalUs: Number.POSITIVE_INFINITY,
}

/** A request with the test key; a plain chat unless said otherwise. */
export function ask(spec: Partial<RequestSpec> = {}): PreparedRequest {
  const template = buildTemplate(defaultContract, '', {
    ...plainRequest,
    model: 'svc-k2',
    messages: [{ role: 'user', content: 'Hello' }],
    ...spec,
  })
  return prepareRequest(template, key)
}

/** Sends one request over a transport of its own. */
export async function send(
  origin: string,
  spec: Partial<RequestSpec> = {},
  options: Partial<SendOnceOptions> = {},
): Promise<Received> {
  const transport = new Http1Transport({
    origin,
    maxConnections: Number.POSITIVE_INFINITY,
    connectTimeoutMs: 5000,
  })
  const received = await sendOnce(transport, ask(spec), {
    contract: defaultContract,
    now,
    deadlines: noDeadlines,
    ...options,
  })
  await transport.close()
  return received
}
