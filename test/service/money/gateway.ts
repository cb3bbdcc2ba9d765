import { onTestFinished } from 'vitest'
import { parseContract } from '../../../src/contract/load.ts'
import { completed } from '../../../src/service/money/complete.ts'
import type { ServiceOptions } from '../../../src/service/options.ts'
import { startService } from '../../../src/service/start.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests examine fields that may be missing
export type Json = Record<string, any>

/** Every kind of price at once. */
const model = {
  id: 'big',
  aliases: ['big-latest'],
  price: {
    ...{ input: 4, cache_read: 0.4, cache_write: 5, cache_write_1h: 8, output: 20, reasoning: 30 },
    ...{ input_image: 7, output_image: 100, output_audio: 80, search: 0.01, request: 0.001 },
  },
  tiers: { steps: [{ above: 3000, price: { input: 8, cache_read: 0.8, output: 30 } }] },
  service: { flex: { times: 0.5 }, batch: { times: 0.5 } },
  hours: [{ utc: ['00:00-24:00'], times: 1.5 }],
  changes: [{ from: '2026-01-01T00:00:00Z', price: { output: 25 } }],
  times: { group: { default: 1, vip: 0.8, free: 0 } },
  charged: { success: 'full', abort: 'received', empty: 'none', filtered: 'none', broken: 'none' },
  served: 'any',
  reasoning: true,
}
const contract = {
  ...{ extends: 'none', name: 'gateway', currency: 'USD' },
  models: [
    model,
    { id: 'big-2025', price: { input: 9, output: 90 }, charged: model.charged },
    { id: 'spare', price: { input: 1, output: 2 }, charged: model.charged },
  ],
  evidence: {
    cost: [{ header: 'x-cost' }, { body: 'usage.cost' }],
    balance: { get: '/key/info', value: 'info.spend', moves: 'up' },
    log: { get: '/spend/logs?request_id={response.id}', id: 'request_id', cost: 'spend' },
  },
}

/** @param change fields of the contract, or of its first model */
export function contractWith(change: object = {}, ofModel: object = {}) {
  const [first, ...rest] = contract.models
  const models = [{ ...first, ...ofModel }, ...rest]
  return completed(parseContract({ ...contract, models, ...change }, 'gateway.yaml'))
}

const quick = {
  timeToFirstUs: { kind: 'constant', value: 0 },
  betweenTokensUs: { kind: 'constant', value: 0 },
  lengthTokens: { kind: 'constant', value: 40 },
} as const

/** @param atEnd who closes it; a test that runs beside others of its file passes its own */
export async function gateway(
  options: ServiceOptions = {},
  atEnd: (close: () => Promise<void>) => void = onTestFinished,
): Promise<Gateway> {
  const service = await startService({
    ...{ seed: 1, contract: contractWith(), ...options },
    shape: { ...quick, ...options.shape },
  })
  atEnd(() => service.close())
  return new Gateway(service.baseUrl, service.keys[3]!.apiKey, service.keys[0]!.apiKey)
}

/** What one request cost, in each place. */
export interface Seen {
  readonly status: number
  readonly body: Json
  readonly usage: Json | null
  readonly stated: number | null
  /** Costs of the rows of the log. */
  readonly logged: readonly number[]
  /** What the spend rose by. */
  readonly spent: number
}

export class Gateway {
  readonly baseUrl: string
  readonly key: string
  readonly poorKey: string

  constructor(baseUrl: string, key: string, poorKey: string) {
    this.baseUrl = baseUrl
    this.key = key
    this.poorKey = poorKey
  }

  async spend(key = this.key): Promise<number> {
    return Number((await this.get('/key/info', key)).info.spend)
  }

  /** The log of the account, or the rows of one response. */
  async rows(id?: string): Promise<readonly Json[]> {
    const query = id === undefined ? '' : `?request_id=${id}`
    return (await this.get(`/spend/logs${query}`)) as unknown as Json[]
  }

  async get(path: string, key = this.key): Promise<Json> {
    const answer = await fetch(this.baseUrl + path, { headers: { authorization: `Bearer ${key}` } })
    return (await answer.json()) as Json
  }

  send(
    path: string,
    body: object,
    headers: Record<string, string> = {},
    signal: AbortSignal | null = null,
  ): Promise<Response> {
    return fetch(this.baseUrl + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${this.key}`,
        ...headers,
      },
      body: JSON.stringify({ max_tokens: 100, model: 'big', ...body }),
      signal,
    })
  }

  async ask(body: object, { path = '/v1/chat/completions', headers = {} } = {}): Promise<Seen> {
    const before = await this.spend()
    const rowsBefore = await this.rows()
    const asked = 'stream' in body ? { stream_options: { include_usage: true }, ...body } : body
    // A connection that the service breaks has no answer.
    const answer = await this.send(path, asked, headers).catch(() => null)
    const text = (await answer?.text().catch(() => '')) ?? ''
    const events = [...text.matchAll(/^data: (\{.*)$/gm)].map(
      ([, data]) => JSON.parse(data!) as Json,
    )
    const json =
      events.length > 0 ? Object.assign({}, ...events) : (JSON.parse(text || '{}') as Json)
    const rows = (await this.rows()).slice(rowsBefore.length)
    const header = answer?.headers.get('x-cost') ?? null
    const stated = json.usage?.cost ?? (header === null ? null : Number(header))
    return {
      status: answer?.status ?? 0,
      body: json,
      usage: json.usage ?? null,
      stated: stated === null || stated === undefined ? null : Number(stated),
      logged: rows.map(({ spend }) => Number(spend)),
      spent: Number(((await this.spend()) - before).toFixed(12)),
    }
  }
}

export const user = (content: unknown) => [{ role: 'user', content }]
export const long = (words: number, mark: string) =>
  user(`${mark} ${'one two three four five six seven eight nine ten '.repeat(words / 10)}`)
