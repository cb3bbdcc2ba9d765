import type { TlsTexts } from '../../client/wire/authorities.ts'
import { Http1Transport } from '../../client/wire/http1/transport.ts'
import type { Transport } from '../../client/wire/transport.ts'
import type { UndiciOptions } from '../../client/wire/undici/transport.ts'
import type { Scenario } from '../../scenario/scenario.ts'
import { shareOf } from '../crew/shared.ts'

/**
 * The transport of a scenario; undici for a proxy and for HTTP/2. undici is loaded only if needed, because
 * a thread without it starts sooner.
 */
export async function transportOf(
  scenario: Pick<Scenario, 'transport' | 'policy'>,
  baseUrl: string,
  way: {
    readonly tls: TlsTexts
    readonly proxy: string | null
    readonly shard: number
    readonly shards: number
    readonly openConnections?: number
  },
): Promise<Transport> {
  const { maxConnections } = scenario.policy
  const options: UndiciOptions = {
    origin: new URL(baseUrl).origin,
    maxConnections:
      maxConnections === null
        ? Infinity
        : Math.max(1, shareOf(maxConnections, way.shard, way.shards)),
    openConnections: way.openConnections ?? Infinity,
    connectTimeoutMs: Math.ceil(scenario.policy.connectTimeoutUs / 1000),
    ...way.tls,
    ...(way.proxy === null ? {} : { proxy: way.proxy }),
  }
  if (scenario.transport === 'own' && way.proxy === null) return new Http1Transport(options)
  const { UndiciTransport } = await import('../../client/wire/undici/transport.ts')
  return new UndiciTransport({ ...options, http2: scenario.transport === 'http2' })
}
