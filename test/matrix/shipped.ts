import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { scaled } from '../../bench/audit-scenarios.ts'
import { audit } from '../../src/audit/audit.ts'
import type { Finding } from '../../src/audit/verdict.ts'
import { defaultContract } from '../../src/contract/default.ts'
import type { DeploymentProfile } from '../../src/contract/profile.ts'
import { probe } from '../../src/probe/probe.ts'
import { run } from '../../src/run/run.ts'
import { parseScenario } from '../../src/scenario/parse.ts'
import type { ProfileAnswers } from '../../src/service/profile.ts'
import { startService } from '../../src/service/start.ts'
import { openStore } from '../store/opened.ts'

/** A scenario of the package, and how it is played here. */
interface Shipped {
  readonly name: string
  /** The service's clock, and the scenario with it, passes this many times as fast. */
  readonly scale: number
  /** Balances of accounts whose key has this name; others hold 1,500 credits. */
  readonly balances?: Readonly<Record<string, number>>
}

/** The scenarios of the package that end within a minute or two, faster ones included. */
export const shippedScenarios: readonly Shipped[] = [
  { name: 'audit-billing', scale: 10 },
  { name: 'audit-errors', scale: 10 },
  { name: 'audit-exhaustion', scale: 10, balances: { poor: 6, odd: 3, burst: 16 } },
  // Whether a stream had begun when its client left depends on real times.
  { name: 'audit-streams', scale: 1 },
  { name: 'audit-limits', scale: 20, balances: { main: 100, other: 100 } },
  { name: 'bands', scale: 20, balances: { low: 103, middle: 1_003, high: 10_003 } },
  { name: 'quick', scale: 1 },
  { name: 'aborts', scale: 1 },
  { name: 'errors', scale: 1 },
  { name: 'conversation', scale: 1 },
  // Its delays of tools stay as they are.
  { name: 'agents', scale: 10 },
]

/** The profile that `probe` writes of a service with these answers; the operator moves its clock. */
export async function probedProfile(profile: ProfileAnswers): Promise<DeploymentProfile> {
  const service = await startService({
    seed: 11,
    accounts: [{ name: 'probed', balance: 1_200 }],
    profile,
  })
  const store = await openStore(':memory:')
  const [ready] = service.keys
  try {
    const { profile: written } = await probe({
      store,
      contract: defaultContract,
      baseUrl: service.baseUrl,
      apiKey: ready!.apiKey,
      secondKey: service.operator.issueKey(ready!.account, 'second'),
      operator: {
        setBalance: async (credits) => service.operator.setBalance(ready!.account, credits),
        advance: async (us) => service.operator.advance(us),
      },
      maxCredits: 2_000,
      sleep: async (us) => {
        await wait(Math.min(us / 1000, 1_200))
      },
    })
    return written
  } finally {
    store.close()
    await service.close()
  }
}

/** The findings of an audit, with that profile, of one scenario against a service with these answers. */
export async function playShipped(
  { name, scale, balances = {} }: Shipped,
  answers: ProfileAnswers,
  profile: DeploymentProfile,
): Promise<readonly Finding[]> {
  const file = join(resolve(import.meta.dirname, '../../scenarios'), `${name}.yaml`)
  const text = readFileSync(file, 'utf8')
  const scenario = parseScenario(scale === 1 ? text : scaled(text, scale), file)
  const service = await startService({
    seed: 7,
    timeScale: scale,
    profile: answers,
    accounts: scenario.keys.map((key) => ({
      name: key.name,
      balance: balances[key.name] ?? 1_500,
    })),
  })
  const store = await openStore(':memory:')
  try {
    await run(scenario, {
      store,
      baseUrl: service.baseUrl,
      timeScale: scale,
      keys: Object.fromEntries(service.keys.map((key) => [key.name, key.apiKey])),
    })
    return (await audit(store, { contract: defaultContract, profile })).findings
  } finally {
    store.close()
    await service.close()
  }
}

/** Those that an honest service must not get: all but passed, not observed and not promised. */
export function unsettled(findings: readonly Finding[]): readonly Finding[] {
  return findings.filter(({ verdict }) => ['fail', 'inconclusive'].includes(verdict.verdict))
}
