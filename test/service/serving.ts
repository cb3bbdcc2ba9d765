import { onTestFinished } from 'vitest'
import type { ServiceOptions } from '../../src/service/options.ts'
import { type RunningService, startService } from '../../src/service/start.ts'

/** By default, answers come at once and are short. */
const quick = {
  timeToFirstUs: { kind: 'constant', value: 0 },
  betweenTokensUs: { kind: 'constant', value: 0 },
  lengthTokens: { kind: 'constant', value: 6 },
} as const

/** For services with an operator. */
export const operatorKey = 'op-test'
export const asOperator = { authorization: `Bearer ${operatorKey}` }

/** A service for one test, closed after it. */
export async function serving(options: ServiceOptions = {}): Promise<Target> {
  const service = await startService({ seed: 1, ...options, shape: { ...quick, ...options.shape } })
  onTestFinished(() => service.close())
  return new Target(service)
}

/** A service, and the requests of tests to it. */
export class Target {
  readonly service: RunningService
  constructor(service: RunningService) {
    this.service = service
  }

  /** The ready key of a band, 1 to 4. */
  key(band = 4): string {
    return this.service.keys[band - 1]!.apiKey
  }

  chat(
    body: object = {},
    key = this.key(),
    headers: Record<string, string> = {},
  ): Promise<Response> {
    return this.post(
      '/v1/chat/completions',
      { ...hello, ...body },
      {
        authorization: `Bearer ${key}`,
        ...headers,
      },
    )
  }

  messages(body: object = {}, key = this.key()): Promise<Response> {
    return this.post('/v1/messages', { ...hello, max_tokens: 64, ...body }, { 'x-api-key': key })
  }

  post(path: string, body: unknown, headers: Record<string, string>): Promise<Response> {
    return fetch(this.service.baseUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  }

  get(path: string, key = this.key()): Promise<Response> {
    return fetch(this.service.baseUrl + path, { headers: { authorization: `Bearer ${key}` } })
  }

  async credits(key = this.key()): Promise<Record<string, number>> {
    return (await this.get('/user/credits', key)).json() as Promise<Record<string, number>>
  }
}

export const hello = { model: 'svc-k2', messages: [{ role: 'user', content: 'Hello there' }] }
