import { isHeaderValue } from '../contract/request.ts'
import { jsonOf } from '../user/json.ts'
import { UserError } from '../user/user-error.ts'
import type { Operator } from './operator.ts'

const answerWithinMs = 10_000

/**
 * The operator's endpoint of a service on this machine (`assay serve --operator`): it sets the account's balance and moves the
 * clock.
 *
 * @param baseUrl address of the service; `/operator` is added
 * @param apiKey the key of the probed account
 * @throws UserError for an address of another machine, and if no such endpoint responds
 */
export async function httpOperator(
  baseUrl: string,
  apiKey: string,
  operatorKey: string,
): Promise<Operator> {
  const operator = { address: operatorOf(baseUrl), operatorKey }
  if (!isHeaderValue(operatorKey) || operatorKey === '')
    throw new UserError(
      'operator',
      '--operator: expected the key of the operator in ASSAY_OPERATOR_KEY; the service prints it when it starts.',
    )
  const { account } = await ask(operator, '/accounts/find', { api_key: apiKey })
  if (typeof account !== 'number')
    throw unexpected(operator.address, 'the number of an account', account)
  return {
    async setBalance(credits) {
      await ask(operator, `/accounts/${account}/balance`, { balance: credits })
    },
    async advance(us) {
      await ask(operator, '/clock', { advance_s: us / 1e6 })
    },
  }
}

/** Only this machine: a mistyped address must not receive the operator's key. */
function operatorOf(text: string): string {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UserError(
      'operator',
      `--operator: expected the address of a service, as http://127.0.0.1:8787; got ${text}.`,
    )
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  if (host !== 'localhost' && host !== '::1' && !/^127(\.\d{1,3}){3}$/.test(host))
    throw new UserError(
      'operator',
      `--operator: expected an address of this machine (127.0.0.1, localhost); got ${url.hostname}. Run the probe where the service runs.`,
    )
  return `${url.origin}${url.pathname.replace(/\/(operator\/?)?$/, '')}/operator`
}

async function ask(
  { address, operatorKey }: { readonly address: string; readonly operatorKey: string },
  path: string,
  body: object,
): Promise<Readonly<Record<string, unknown>>> {
  let response: Response
  try {
    response = await fetch(address + path, {
      method: 'POST',
      redirect: 'error',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${operatorKey}` },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(answerWithinMs),
    })
  } catch (error) {
    const why = error instanceof Error ? (causeOf(error) ?? error.message) : String(error)
    throw new UserError(
      'operator',
      `--operator: no response from ${address} (${why}). Start the service with --operator.`,
    )
  }
  const text = await response.text()
  const answer = parsed(text)
  if (response.status === 200 && answer !== null) return answer
  const { message } = (answer?.error ?? {}) as { message?: unknown }
  throw new UserError(
    'operator',
    `--operator: expected 200 of ${address}${path}; got ${response.status}` +
      `${typeof message === 'string' ? `: ${message.slice(0, 200)}` : ''}. ` +
      'Start the service with --operator, and use its keys.',
  )
}

const causeOf = ({ cause }: Error): string | null =>
  cause instanceof Error && 'code' in cause ? String(cause.code) : null

function parsed(text: string): Readonly<Record<string, unknown>> | null {
  const value = jsonOf(text)
  return typeof value === 'object' && value !== null ? { ...value } : null
}

function unexpected(operator: string, expected: string, observed: unknown): UserError {
  return new UserError(
    'operator',
    `--operator: expected ${expected} from ${operator}; got ${JSON.stringify(observed)?.slice(0, 80)}.`,
  )
}
