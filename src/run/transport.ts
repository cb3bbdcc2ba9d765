import { openTransport } from '../client/open-transport.ts'
import type { Transport } from '../client/transport.ts'
import { type UndiciOptions, UndiciTransport } from '../client/undici/transport.ts'
import type { Scenario } from '../scenario/scenario.ts'

/** The transport that a scenario asks for. */
export function transportOf(
  scenario: Pick<Scenario, 'transport' | 'policy' | 'threads'>,
  baseUrl: string,
  way: { readonly ca: string | null; readonly proxy: string | null },
): Transport {
  const { maxConnections } = scenario.policy
  const options: UndiciOptions = {
    origin: new URL(baseUrl).origin,
    maxConnections:
      maxConnections === null
        ? Infinity
        : Math.max(1, Math.floor(maxConnections / scenario.threads)),
    connectTimeoutMs: Math.ceil(scenario.policy.connectTimeoutUs / 1000),
    ...(way.ca === null ? {} : { ca: way.ca }),
    ...(way.proxy === null ? {} : { proxy: way.proxy }),
  }
  switch (scenario.transport) {
    case 'own':
      return openTransport(options)
    case 'undici':
      return new UndiciTransport(options)
    case 'http2':
      return openTransport({ ...options, http2: true })
  }
}
