import { z } from 'zod'
import type { Call } from '../call.ts'
import { type Operator, OperatorError } from '../operator.ts'

/** What the operator's endpoint answers. */
export interface DeskAnswer {
  readonly status: number
  readonly body: object
}

const credits = z.number().int().min(-1_000_000_000).max(1_000_000_000)
const bodies = {
  clock: z.strictObject({ advance_s: z.number().min(0).max(1e9) }),
  account: z.strictObject({ name: z.string().min(1).max(200), balance: credits }),
  balance: z.strictObject({ balance: credits }),
  topUp: z.strictObject({ credits: credits.min(1) }),
  key: z.strictObject({ name: z.string().min(1).max(200) }),
  owner: z.strictObject({ api_key: z.string().min(1).max(200) }),
  none: z.strictObject({}),
}

/**
 * The operator's endpoint, under `/operator/`: off unless asked for, and for this machine alone.
 * A browser that some page told to call it names that page as its origin, and is refused.
 *
 *     GET  /operator/clock                          POST {advance_s}
 *     GET  /operator/accounts                       POST {name, balance}
 *     POST /operator/accounts/find {api_key}
 *     POST /operator/accounts/ID/balance {balance}  /top-up {credits}  /keys {name}
 */
export class OperatorDesk {
  readonly #operator: Operator

  constructor(operator: Operator) {
    this.#operator = operator
  }

  /** Null for what is not for the desk. */
  answer(call: Call): DeskAnswer | null {
    const { path, headers, remoteAddress, method } = call.arrival
    if (!path.startsWith('/operator/')) return null
    if (!isLoopback(remoteAddress) || headers.origin !== undefined) {
      return refusal(403, 'the operator speaks from this machine, and not through a browser')
    }
    try {
      const body: unknown = call.body.length === 0 ? {} : JSON.parse(call.body.toString('utf8'))
      return this.#act(`${method} ${path.slice('/operator'.length)}`, body)
    } catch (error) {
      if (error instanceof SyntaxError) return refusal(400, 'the body must be JSON')
      if (error instanceof z.ZodError) return refusal(400, z.prettifyError(error))
      if (error instanceof OperatorError) return refusal(400, error.message)
      throw error
    }
  }

  #act(what: string, body: unknown): DeskAnswer | null {
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
    if (match === null || !operator.hasAccount(account)) return null
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

  #clock(): DeskAnswer {
    const nowUs = this.#operator.nowUs()
    return { status: 200, body: { now: new Date(nowUs / 1000).toISOString(), now_us: nowUs } }
  }

  #account(account: number): DeskAnswer {
    return { status: 200, body: { account, balance: this.#operator.balance(account) } }
  }
}

function refusal(status: number, message: string): DeskAnswer {
  return { status, body: { error: { message, type: 'invalid_request_error', code: 'operator' } } }
}

function isLoopback(address: string): boolean {
  return address === '::1' || /^(::ffff:)?127\./.test(address)
}
