import { randomUUID } from 'node:crypto'
import type { FullContract } from '../../../src/contract/contract.ts'
import { flatBody } from './credits-body.ts'

/** A service as seen from outside, with its operator's endpoint if there is one. */
export interface TargetAddress {
  readonly baseUrl: string
  readonly contract: FullContract
  /** A key with credits, for services without an operator. */
  readonly key: string
  /** A key of another account. */
  readonly otherKey: string
  /**
   * The headers that `/operator/` needs to move its clock and balances; null without an operator.
   */
  readonly operatorKey: string | null
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Null where the body is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests examine fields that may be missing
  readonly json: any
  readonly credits: number
  readonly limit: number
  readonly remaining: number
  readonly reset: number
}

export interface AccountUnderTest {
  readonly id: number
  readonly key: string
}

export const hello = { model: 'svc-k2', messages: [{ role: 'user', content: 'Hello there' }] }
export const say = (text: string) => [{ role: 'user', content: `Repeat after me: ${text}` }]

/** The requests of the checks to a service. */
export class Target {
  readonly address: TargetAddress
  readonly contract: FullContract

  constructor(address: TargetAddress) {
    this.address = address
    this.contract = address.contract
  }

  /** Sends once, and returns any response. */
  async send(
    method: string,
    path: string,
    { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    const response = await fetch(this.address.baseUrl + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const number = (name: string) => {
      const value = response.headers.get(name)
      return value === null ? Number.NaN : Number(value)
    }
    const { headers: names } = this.contract
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: parsed(text),
      credits: number(names.creditsRemaining[0]),
      limit: number(names.rateLimit[0]),
      remaining: number(names.rateRemaining[0]),
      reset: number(names.rateReset![0]),
    }
  }

  /** Sends; if the limit of the minute prevents it, moves the clock past it. */
  async #patiently(send: () => Promise<Answer>): Promise<Answer> {
    for (let attempt = 0; ; attempt++) {
      const answer = await send()
      if (answer.status !== 429 || this.address.operatorKey === null || attempt === 3) return answer
      await this.advance(61)
    }
  }

  chat(body: object = {}, key = this.address.key): Promise<Answer> {
    return this.#patiently(() => this.rawChat(body, key))
  }

  rawChat(body: object = {}, key = this.address.key): Promise<Answer> {
    return this.send('POST', this.contract.paths.chat, {
      body: { ...hello, ...body },
      headers: { authorization: `Bearer ${key}` },
    })
  }

  messages(body: object = {}, key = this.address.key): Promise<Answer> {
    return this.#patiently(() => this.rawMessages(body, key))
  }

  rawMessages(body: object = {}, key = this.address.key): Promise<Answer> {
    return this.send('POST', this.contract.paths.messages, {
      body: { ...hello, max_tokens: 64, ...body },
      headers: { 'x-api-key': key },
    })
  }

  models(key = this.address.key): Promise<Answer> {
    return this.get(this.contract.paths.models, key)
  }

  async creditsOf(key: string, query = ''): Promise<Answer> {
    const answer = await this.get(this.contract.paths.credits + query, key)
    return { ...answer, json: flatBody(answer.json) }
  }

  /** With both headers, because it is open which one these endpoints take (G-06, G-07). */
  get(path: string, key = this.address.key): Promise<Answer> {
    return this.#patiently(() =>
      this.send('GET', path, { headers: { authorization: `Bearer ${key}`, 'x-api-key': key } }),
    )
  }

  async remaining(key: string): Promise<number> {
    return (await this.creditsOf(key)).json.remaining
  }

  /** Moves the service's clock. */
  async advance(seconds: number): Promise<void> {
    await this.#operate('/clock', { advance_s: seconds })
  }

  /**
   * A new account with its own key, in the first half of a minute: windows that end with the minute
   * of the clock then do not end in the middle of a burst.
   */
  async account(balance: number): Promise<AccountUnderTest> {
    const { headers } = await this.send('GET', '/operator/clock', { headers: this.#asOperator() })
    const second = new Date(headers.get('date') ?? '').getUTCSeconds()
    if (second >= 30) await this.advance(60 - second)
    // Nor of an earlier check: an account keeps its name for as long as the service keeps its
    // ledger.
    const name = `contract ${randomUUID()}`
    const { account } = await this.#operate('/accounts', { name, balance })
    return { id: account, key: await this.issueKey(account) }
  }

  async issueKey(account: number): Promise<string> {
    return (await this.#operate(`/accounts/${account}/keys`, { name: 'test' })).api_key
  }

  async setBalance(account: number, balance: number): Promise<void> {
    await this.#operate(`/accounts/${account}/balance`, { balance })
  }

  #asOperator(): Record<string, string> {
    return { authorization: `Bearer ${this.address.operatorKey}` }
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above
  async #operate(path: string, body: object): Promise<any> {
    const answer = await this.send('POST', `/operator${path}`, {
      body,
      headers: this.#asOperator(),
    })
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`)
    return answer.json
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
