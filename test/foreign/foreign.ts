import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { FullContract, Headers } from '../../src/contract/contract.ts'
import { defaultContract } from '../../src/contract/default.ts'
import type { DeploymentProfile, GapId } from '../../src/contract/profile.ts'
import { probe } from '../../src/probe/probe.ts'
import { openStore, type Store } from '../../src/store/session/open.ts'

/** Requests per minute that each limiter allows. */
export const minuteLimit = 20

export interface Foreign {
  readonly baseUrl: string
  /** Moves its clock. */
  advance(us: number): Promise<void>
}

/** The scope of one count of the limiter: see key.js. */
export type Scope = 'address' | 'bearer' | 'key' | 'route'

/**
 * Starts an API behind a rate limiter from npm, in a process of its own.
 *
 * @param startS second of a minute at which its clock starts
 */
export async function startForeign(limiter: string, scope: Scope, startS = 17): Promise<Foreign> {
  const args = [limiter, minuteLimit, scope, startS].map(String)
  const child = fork(join(import.meta.dirname, 'serve.js'), args)
  onTestFinished(() => void child.kill())
  const { port } = await heardFrom<{ port: number }>(child)
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    advance: async (us) => {
      child.send({ advanceMs: us / 1000 })
      await heardFrom(child)
    },
  }
}

async function heardFrom<Message>(child: ChildProcess): Promise<Message> {
  const heard = new AbortController()
  const ended = once(child, 'exit', heard).then(() => {
    throw new Error('The server ended. Are its packages there? npm ci --prefix test/foreign')
  })
  const [message] = await Promise.race([once(child, 'message', heard), ended])
  ended.catch(() => {})
  heard.abort()
  return message as Message
}

/** The promises of a service with such a limiter: no credits, two models of one price, one band. */
export function contractOf(headers: Partial<Headers>): FullContract {
  const model = { contextWindowTokens: 128_000, costCredits: 1, listed: true, reasoning: false }
  return {
    ...defaultContract,
    name: 'foreign',
    models: ['model-a', 'model-b'].map((id) => ({ ...model, id })),
    bands: [
      {
        ...{ name: 'all', minBalance: 0, maxBalance: null },
        requests: { minute: minuteLimit, hour: 100_000, day: 1_000_000 },
      },
    ],
    headers: { ...defaultContract.headers, ...headers },
  }
}

export interface Probed {
  readonly profile: DeploymentProfile
  readonly store: Store
}

/** Probes it with two keys; its clock is moved while the prober waits. */
export async function probeForeign(
  foreign: Foreign,
  contract: FullContract,
  only: readonly GapId[] = [],
): Promise<Probed> {
  const store = await openStore(':memory:')
  onTestFinished(() => store.close())
  const began = performance.now()
  let aheadUs = 0
  const { profile } = await probe({
    ...{ store, contract, only, baseUrl: foreign.baseUrl, runId: 'probe-1' },
    ...{ apiKey: 'key-one', secondKey: 'key-two', operator: null },
    ...{ maxCredits: 2_000, timeScale: 1, startedAt: new Date() },
    now: () => (performance.now() - began) * 1000 + aheadUs,
    sleep: async (us) => {
      await foreign.advance(us)
      aheadUs += us
    },
    ...{ signal: new AbortController().signal },
  })
  return { profile, store }
}
