import type { Transport, TransportOptions } from '../client/transport.ts'
import { UndiciTransport } from '../client/undici/transport.ts'
import type { Scenario } from '../scenario/scenario.ts'

/** The transport that a scenario asks for. */
export async function openTransport(
  scenario: Pick<Scenario, 'transport' | 'policy'>,
  baseUrl: string,
  ca: string | null,
): Promise<Transport> {
  const options: TransportOptions = {
    origin: new URL(baseUrl).origin,
    maxConnections: Infinity,
    connectTimeoutMs: Math.ceil(scenario.policy.connectTimeoutUs / 1000),
    ...(ca === null ? {} : { ca }),
  }
  return new UndiciTransport(options)
}
