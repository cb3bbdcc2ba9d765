import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import type { GapId } from '../../src/contract/profile.ts'
import type { Price } from '../../src/probe/price.ts'
import { type ProbeResult, probe } from '../../src/probe/probe.ts'
import type { ServiceOptions } from '../../src/service/options.ts'
import { type RunningService, startService } from '../../src/service/start.ts'
import { openStore, type Store } from '../../src/store/session/open.ts'

export interface Probed extends ProbeResult {
  readonly store: Store
  /** The price as announced before the first question. */
  readonly price: Price
  readonly service: RunningService
}

export interface Asked extends ServiceOptions {
  readonly balance?: number
  readonly maxCredits?: number
  readonly only?: readonly GapId[]
  readonly secondKey?: boolean | 'same'
  /** In place of the operator's own. */
  readonly setBalance?: (credits: number) => Promise<void>
  /** Latency in milliseconds from the probe to the service, and back. */
  readonly awayMs?: number
  /** Who closes what was opened. A test that runs beside others of its file passes its own: the current test is any of them. */
  readonly atEnd?: (close: () => void | Promise<void>) => void
}

/** Probes a dedicated service, whose clock the operator moves in place of waiting. */
export async function probeService({
  balance = 900,
  maxCredits = 2_000,
  only = [],
  secondKey = true,
  awayMs = 0,
  atEnd = onTestFinished,
  setBalance,
  ...options
}: Asked): Promise<Probed> {
  const service = await startService({
    seed: 11,
    accounts: [{ name: 'probed', balance }],
    ...options,
    shape: {
      timeToFirstUs: { kind: 'constant', value: 20_000 },
      betweenTokensUs: { kind: 'constant', value: 1_000 },
      lengthTokens: { kind: 'constant', value: 24 },
      ...options.shape,
    },
  })
  atEnd(() => service.close())
  const [ready] = service.keys
  const store = await openStore(':memory:')
  atEnd(() => store.close())
  const began = performance.now()
  const prices: Price[] = []
  const result = await probe({
    store,
    contract: options.contract ?? defaultContract,
    baseUrl: awayMs === 0 ? service.baseUrl : await farAway(service.baseUrl, awayMs, atEnd),
    runId: 'probe-1',
    apiKey: ready!.apiKey,
    secondKey:
      secondKey === 'same'
        ? ready!.apiKey
        : secondKey
          ? service.operator.issueKey(ready!.account, 'second')
          : null,
    operator: {
      setBalance:
        setBalance ?? (async (credits) => service.operator.setBalance(ready!.account, credits)),
      advance: async (us) => service.operator.advance(us),
    },
    maxCredits,
    timeScale: 1,
    only,
    startedAt: new Date(),
    now: () => (performance.now() - began) * 1000,
    // Waits for the service to settle are real, and short.
    sleep: async (us) => {
      await wait(Math.min(us / 1000, 120))
    },
    signal: new AbortController().signal,
    onPrice: (price) => prices.push(price),
  })
  return { ...result, store, price: prices[0]!, service }
}

/** The same service behind a slow link: bytes and ends arrive later, in order. */
async function farAway(
  baseUrl: string,
  awayMs: number,
  atEnd: NonNullable<Asked['atEnd']>,
): Promise<string> {
  const carry = (from: Socket, to: Socket) => {
    from.on('data', (bytes) => setTimeout(() => to.write(bytes), awayMs))
    from.on('error', () => {})
    from.on('close', () => setTimeout(() => to.destroy(), awayMs))
  }
  const line = createServer((near) => {
    const far = connect(Number(new URL(baseUrl).port), '127.0.0.1')
    carry(near, far)
    carry(far, near)
  })
  await new Promise<void>((ready) => line.listen(0, '127.0.0.1', ready))
  atEnd(() => void line.close())
  return `http://127.0.0.1:${(line.address() as AddressInfo).port}`
}
