import type { Finding } from '../../../../src/audit/verdict.ts'
import type { ServiceOptions } from '../../../../src/service/options.ts'
import { contractWith, type Gateway, gateway } from '../../../service/money/gateway.ts'
import { RecordedClient } from './recorded-client.ts'
import type { Traffic } from './traffic.ts'

const slow = {
  timeToFirstUs: { kind: 'constant', value: 300_000 },
  betweenTokensUs: { kind: 'constant', value: 20_000 },
} as const
const verySlow = { timeToFirstUs: { kind: 'constant', value: 2_200_000 } } as const

interface Played {
  readonly failed: readonly Finding[]
  readonly target: Gateway
}

/** Sends the traffic to a service, reads the spend before and after, and audits with the service's own log. */
export async function played(
  { send, choices, model, isSlow = false }: Traffic,
  options: ServiceOptions & { readonly isVerySlow?: boolean },
): Promise<Played> {
  const contract = contractWith({}, model ?? {})
  const target = await gateway({
    contract,
    ...options,
    ...(isSlow ? { shape: options.isVerySlow === true ? verySlow : slow } : {}),
  })
  const client = new RecordedClient(target.baseUrl, target.key)
  await client.read('/key/info')
  await send(client)
  await client.read('/key/info')
  const findings = await client.audit(contract, await target.rows(), choices)
  return { failed: findings.filter(({ verdict }) => verdict.verdict === 'fail'), target }
}
