import { onTestFinished } from 'vitest'
import type { AttemptRow } from '../../../src/attempt/columns.ts'
import { fingerprintOf } from '../../../src/attempt/fingerprint.ts'
import { openTransport } from '../../../src/client/open-transport.ts'
import {
  buildTemplate,
  plainRequest,
  prepareRequest,
  type RequestSpec,
} from '../../../src/client/request.ts'
import { sendOnce } from '../../../src/client/send-once.ts'
import type { Contract } from '../../../src/contract/contract.ts'
import { defaultContract } from '../../../src/contract/default.ts'
import type { ServiceOptions } from '../../../src/service/options.ts'
import { type RunningService, startService } from '../../../src/service/start.ts'
import { rowOf } from './evidence.ts'

const quick = {
  timeToFirstUs: { kind: 'constant', value: 0 },
  betweenTokensUs: { kind: 'constant', value: 0 },
  lengthTokens: { kind: 'constant', value: 3 },
} as const

/** Real requests to a real service whose clock jumps instead of being waited for. */
export async function drive(options: ServiceOptions): Promise<Driver> {
  const service = await startService({ seed: 7, shape: quick, ...options })
  const driver = new Driver(service, options.contract ?? defaultContract)
  onTestFinished(() => driver.close())
  return driver
}

export class Driver {
  readonly service: RunningService
  readonly rows: AttemptRow[] = []
  private readonly contract: Contract
  private readonly transport
  private readonly beganUs: number

  constructor(service: RunningService, contract: Contract) {
    this.service = service
    this.contract = contract
    this.beganUs = service.operator.nowUs()
    this.transport = openTransport({
      origin: service.baseUrl,
      maxConnections: Number.POSITIVE_INFINITY,
      connectTimeoutMs: 5_000,
    })
  }

  async close(): Promise<void> {
    await this.transport.close()
    await this.service.close()
  }

  /** Moves the service's clock. */
  rest(seconds: number): void {
    this.service.operator.advance(seconds * 1e6)
  }

  /** @param account index of the ready key */
  async send(
    account: number,
    change: Partial<RequestSpec> = {},
    apiKey?: string,
  ): Promise<AttemptRow> {
    const ready = this.service.keys[account]!
    const key = apiKey ?? ready.apiKey
    const spec: RequestSpec = {
      ...plainRequest,
      model: 'svc-k2',
      messages: [{ role: 'user', content: 'hello' }],
      maxTokens: 4,
      ...change,
    }
    const request = prepareRequest(buildTemplate(this.contract, '', spec), key)
    const now = () => this.service.operator.nowUs() - this.beganUs
    const { columns } = await sendOnce(this.transport, request, { contract: this.contract, now })
    const row: AttemptRow = {
      ...rowOf(this.rows.length, now() / 1000),
      ...columns,
      keyFp: fingerprintOf(key),
      account: ready.name,
      endpoint: spec.endpoint,
      streamed: spec.stream ? 1 : 0,
      model: spec.model,
      intendedUs: columns.dispatchedUs ?? now(),
    }
    this.rows.push(row)
    return row
  }

  async sequence(account: number, count: number, gapS: number, change: Partial<RequestSpec> = {}) {
    for (let nth = 0; nth < count; nth++) {
      await this.send(account, change)
      this.rest(gapS)
    }
  }

  async burst(account: number, count: number, change: Partial<RequestSpec> = {}): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.send(account, change)))
  }
}

/**
 * Traffic that puts every rate rule to work: more than twice the limit in a row, again at another
 * phase, a single request where a bucket would have regained some, polling until the window is
 * over, concurrent bursts at two phases, both endpoints and several keys in turn, errors and reads
 * in between, and a slow walk over the lowest edge that goes on after a minute's rest.
 */
export async function allRateTraffic(driver: Driver): Promise<void> {
  const messages = { endpoint: 'messages' } as const
  const second = driver.service.operator.issueKey(driver.service.keys[1]!.account, 'second')
  await driver.sequence(0, 45, 0.05)
  driver.rest(93)
  await driver.sequence(0, 22, 0.05)
  driver.rest(137)
  await driver.sequence(0, 22, 0.05)
  driver.rest(12)
  await driver.send(0)
  await driver.sequence(0, 28, 2)
  driver.rest(133)
  await driver.burst(1, 150)
  driver.rest(80)
  await driver.send(1)
  driver.rest(151)
  await driver.burst(1, 150, messages)
  driver.rest(143)
  for (let nth = 0; nth < 6; nth++) {
    await driver.send(1)
    await driver.send(2)
    await driver.send(1, messages)
    driver.rest(0.3)
  }
  await driver.send(1, { wrong: 'invalid-parameter' })
  await driver.send(1, { endpoint: 'models' })
  await driver.send(1, { endpoint: 'credits' })
  await driver.send(1, { wrong: 'invalid-key' })
  await driver.send(1, { wrong: 'unknown-model' })
  driver.rest(125)
  for (let nth = 0; nth < 5; nth++) {
    await driver.send(1)
    await driver.send(1)
    await driver.send(1, {}, second)
  }
  driver.rest(131)
  for (let nth = 0; nth < 13; nth++) {
    await driver.send(0)
    await driver.send(2)
  }
  driver.rest(20)
  await driver.send(0)
  driver.rest(150)
  await driver.sequence(4, 12, 3)
  driver.rest(75)
  await driver.sequence(4, 3, 0.2)
  await driver.sequence(3, 8, 2, { stream: true })
}

/** Accounts for that traffic: one in each band, and one above the lowest edge. */
export const rateAccounts = [
  { name: 'lowest', balance: 95 },
  { name: 'second', balance: 900 },
  { name: 'third', balance: 9_000 },
  { name: 'highest', balance: 50_000 },
  { name: 'edge', balance: 103 },
]
