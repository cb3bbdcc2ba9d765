import { createHash, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import type { Call } from '../call.ts'
import { type Operator, OperatorError } from '../operator.ts'

/** A response of the operator's endpoint. */
export interface OperatorAnswer {
  readonly status: number
  readonly body: object
}

const most = 1_000_000_000
/** A zod message with the expected and the actual value. */
const error = (expected: string) => ({
  error: ({ code, input }: { readonly code?: string; readonly input?: unknown }) =>
    code === 'unrecognized_keys'
      ? `expected ${expected} and nothing else`
      : `expected ${expected}; got ${(JSON.stringify(input) ?? 'nothing').slice(0, 80)}`,
})
const whole = (min: number) => {
  const expected = error(`a whole number from ${min} to ${most}`)
  return z.number(expected).int(expected).min(min, expected).max(most, expected)
}
const text = (() => {
  const expected = error('a text of 1 to 200 characters')
  return z.string(expected).min(1, expected).max(200, expected)
})()
const seconds = (() => {
  const expected = error(`a number of seconds from 0 to ${most}`)
  return z.number(expected).min(0, expected).max(most, expected)
})()
const bodies = {
  clock: z.strictObject({ advance_s: seconds }, error('{"advance_s": 60}')),
  account: z.strictObject(
    { name: text, balance: whole(-most) },
    error('{"name": "a", "balance": 100}'),
  ),
  balance: z.strictObject({ balance: whole(-most) }, error('{"balance": 100}')),
  topUp: z.strictObject({ credits: whole(1) }, error('{"credits": 500}')),
  key: z.strictObject({ name: text }, error('{"name": "k"}')),
  owner: z.strictObject({ api_key: text }, error('{"api_key": "sk-svc-…"}')),
}

/**
 * The operator's endpoint under `/operator/`. It is off by default. It answers calls from this
 * machine with the operator's key. The key is needed because a proxy on this machine looks like the
 * machine. A call that a web page made a browser send names the page as its origin and is refused.
 *
 *     GET  /operator/clock                          POST {advance_s}
 *     GET  /operator/accounts                       POST {name, balance}
 *     POST /operator/accounts/find {api_key}
 *     POST /operator/accounts/ID/balance {balance}  /top-up {credits}  /keys {name}
 */
export class OperatorApi {
  readonly #operator: Operator
  readonly #key: Buffer

  /** @param key sent with each call as `Authorization: Bearer …` */
  constructor(operator: Operator, key: string) {
    this.#operator = operator
    this.#key = digestOf(`Bearer ${key}`)
  }

  /** Null if the call is not for the operator's endpoint. */
  answer(call: Call): OperatorAnswer | null {
    const { path, method } = call.incoming
    if (!path.startsWith('/operator/')) return null
    if (!isFromHere(call.incoming)) {
      return refusal(
        403,
        'operator calls must come from this machine, not through a browser or a proxy',
      )
    }
    if (!timingSafeEqual(digestOf(call.incoming.headers.authorization ?? ''), this.#key)) {
      return refusal(
        401,
        "expected Authorization: Bearer and the operator's key (ASSAY_OPERATOR_KEY), which the " +
          'service prints when it starts',
      )
    }
    try {
      const body: unknown = call.body.length === 0 ? {} : JSON.parse(call.body.toString('utf8'))
      return this.#act(`${method} ${path.slice('/operator'.length)}`, body)
    } catch (error) {
      if (error instanceof SyntaxError) return refusal(400, 'expected a body in JSON')
      if (error instanceof z.ZodError) return refusal(400, wordsOf(error))
      if (error instanceof OperatorError) return refusal(400, error.message)
      throw error
    }
  }

  #act(what: string, body: unknown): OperatorAnswer | null {
    const operator = this.#operator
    switch (what) {
      case 'GET /clock':
        return this.#clock()
      case 'POST /clock':
        operator.advance(bodies.clock.parse(body).advance_s * 1e6)
        return this.#clock()
      case 'GET /accounts':
        return { status: 200, body: { accounts: operator.accounts() } }
      case 'POST /accounts': {
        const { name, balance } = bodies.account.parse(body)
        const known = operator.accountNamed(name)
        if (known !== null) return nameTaken(name, known)
        return this.#account(operator.openAccount(name, balance))
      }
      case 'POST /accounts/find': {
        const account = operator.accountOf(bodies.owner.parse(body).api_key)
        return account === null
          ? refusal(404, 'no account has this key, or it was revoked')
          : this.#account(account)
      }
    }
    const match = /^POST \/accounts\/(\d{1,15})\/(balance|top-up|keys)$/.exec(what)
    const account = Number(match?.[1])
    if (match === null) return null
    if (!operator.hasAccount(account)) {
      return refusal(404, `no account ${account}; GET /operator/accounts lists them`)
    }
    switch (match[2]) {
      case 'balance':
        operator.setBalance(account, bodies.balance.parse(body).balance)
        return this.#account(account)
      case 'top-up':
        operator.topUp(account, bodies.topUp.parse(body).credits)
        return this.#account(account)
      default:
        return {
          status: 200,
          body: { account, api_key: operator.issueKey(account, bodies.key.parse(body).name) },
        }
    }
  }

  #clock(): OperatorAnswer {
    const nowUs = this.#operator.nowUs()
    return { status: 200, body: { now: new Date(nowUs / 1000).toISOString(), now_us: nowUs } }
  }

  #account(account: number): OperatorAnswer {
    return { status: 200, body: { account, balance: this.#operator.balance(account) } }
  }
}

function refusal(status: number, message: string): OperatorAnswer {
  return { status, body: { error: { message, type: 'invalid_request_error', code: 'operator' } } }
}

function nameTaken(name: string, account: number): OperatorAnswer {
  return refusal(
    400,
    `name: expected one that no account has; "${name}" is that of account ${account}, whose ` +
      `balance POST /operator/accounts/${account}/balance sets`,
  )
}

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Headers of browsers and proxies. A program of the operator does not send them by itself. */
const strangers = ['origin', 'sec-fetch-site', 'forwarded', 'x-forwarded-for', 'via'] as const

/**
 * Whether a call comes directly from this machine. `Host` must name this machine too, because the
 * owner of a web page can point its domain here.
 */
function isFromHere({ remoteAddress, headers }: Call['incoming']): boolean {
  const name = (headers.host ?? '').replace(/:\d+$/, '')
  return (
    (remoteAddress === '::1' || isLoopback(remoteAddress.replace(/^::ffff:/, ''))) &&
    (name === 'localhost' || name === '[::1]' || isLoopback(name)) &&
    strangers.every((header) => headers[header] === undefined)
  )
}

const isLoopback = (address: string): boolean => /^127\.\d+\.\d+\.\d+$/.test(address)

/** Each error of a body once: its place and the expected value. */
function wordsOf({ issues }: z.ZodError): string {
  const words = issues.map(({ path, message }) => `${path.join('.') || 'the body'}: ${message}`)
  return [...new Set(words)].join('; ')
}
