import { describe, expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import type { Contract } from '../../src/contract/contract.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { inFlight, read } from './in-flight.ts'
import { verdictOver } from './verdict-over.ts'

/** Statuses, types and codes that public services have for errors: rules judge each by its contract. */

const failed = (status: number, errorType: string | null, errorCode: string | null, more = {}) => ({
  ...{ outcome: 'http_error' as const, status, errorType, errorCode },
  ...{ errorShape: 'chat', ...more },
})
const ofMessages = (status: number, errorType: string, more = {}) =>
  failed(status, errorType, null, { errorShape: 'messages', endpoint: 'messages', ...more })
const having = (chatErrors: Contract['chatErrors'], more: Partial<Contract> = {}): Contract => ({
  ...defaultContract,
  chatErrors: chatErrors!,
  messagesErrors: [{ type: 'api_error', statuses: [500] }],
  ...more,
})
const told = async (rule: string, of: Contract, ...rows: readonly AttemptRow[]) => {
  const verdict = await verdictOver(rule, rows, { contract: of })
  return verdict.verdict === 'fail' ? verdict.observed : verdict.verdict
}
const one = (rule: string, of: Contract, more: Partial<AttemptRow>) =>
  told(rule, of, inFlight(0, 0, 1, 99), inFlight(1, 2, 3, null, more))

describe('one code with several types, or several statuses', () => {
  const perRequests = { code: 'rate_limit_exceeded', type: 'requests', status: 429 }
  const perTokens = { code: 'rate_limit_exceeded', type: 'tokens', status: 429 }
  const absent = { code: 'no_such_model', type: 'invalid_request_error', status: 404 }
  const denied = { code: 'no_such_model', type: 'invalid_request_error', status: 403 }
  const contract = having([perRequests, perTokens, absent, denied])

  test('ERR-04 accepts each type of the code, and no other', { tags: 'whole' }, async () => {
    for (const type of ['requests', 'tokens'])
      expect(await one('ERR-04', contract, failed(429, type, 'rate_limit_exceeded'))).toBe('pass')
    expect(await one('ERR-04', contract, failed(429, 'server_error', 'rate_limit_exceeded'))).toBe(
      'rate_limit_exceeded with type server_error',
    )
  })

  test('ERR-05 accepts each status of the code, and no other', { tags: 'whole' }, async () => {
    for (const status of [403, 404])
      expect(
        await one('ERR-05', contract, failed(status, 'invalid_request_error', 'no_such_model')),
      ).toBe('pass')
    expect(
      await one('ERR-05', contract, failed(400, 'invalid_request_error', 'no_such_model')),
    ).toBe('no_such_model with status 400')
  })

  test('ERR-05 decides nothing of a code of which one row leaves the status open', async () => {
    const open = having([absent, { ...absent, status: null }])
    expect(
      await one('ERR-05', open, failed(400, 'invalid_request_error', 'no_such_model')),
    ).not.toMatch(/with status/)
  })
})

describe('keys', () => {
  const badRequest = having([
    { code: 'invalid_api_key', type: 'invalid_argument', status: 400 },
    { code: 'bad_field', type: 'invalid_argument', status: 400 },
  ])
  const both = having([
    { code: 'missing_api_key', type: 'authentication_error', status: 401 },
    { code: 'invalid_api_key', type: 'authentication_error', status: 403 },
    { code: 'no_permission', type: 'permission_error', status: 403 },
  ])
  const wrongKey = { expects: 'invalid-key' }

  test('are refused with the status that the contract has for them', {
    tags: 'whole',
  }, async () => {
    const refused = failed(400, 'invalid_argument', 'invalid_api_key', wrongKey)
    expect(await one('AUTH-04', badRequest, refused)).toBe('pass')
    expect(await one('AUTH-04', badRequest, { ...refused, status: 404 })).toBe('status 404 on chat')
    expect(await one('AUTH-04', defaultContract, refused)).toBe('status 400 on chat')
  })

  test('may be refused with several statuses', { tags: 'whole' }, async () => {
    const forbidden = failed(403, 'authentication_error', 'invalid_api_key', wrongKey)
    expect(await one('AUTH-04', both, forbidden)).toBe('pass')
    const missing = failed(401, 'authentication_error', 'missing_api_key', {
      expects: 'missing-key',
    })
    expect(await one('AUTH-03', both, missing)).toBe('pass')
    expect(await one('AUTH-04', both, { ...forbidden, status: 400 })).toBe('status 400 on chat')
  })

  test('carry the words of the contract at each of these statuses (AUTH-05)', {
    tags: 'whole',
  }, async () => {
    const forbidden = failed(403, 'authentication_error', 'invalid_api_key', wrongKey)
    expect(await one('AUTH-05', both, forbidden)).toBe('pass')
    expect(await one('AUTH-05', both, { ...forbidden, errorCode: 'no_permission' })).toBe(
      'code no_permission, type authentication_error on chat',
    )
    expect(
      await one('AUTH-05', badRequest, failed(400, 'invalid_argument', 'bad_field', wrongKey)),
    ).toBe('code bad_field, type invalid_argument on chat')
    // A request with a valid key may get the other words of a 403.
    const denied = failed(403, 'permission_error', 'no_permission')
    expect(await one('AUTH-05', both, denied)).toBe('not-observed')
  })

  test('that are valid and refused with the status for keys break AUTH-01', {
    tags: 'whole',
  }, async () => {
    const template = {
      ...{ runId: 'a', template: 0, step: 's', method: 'POST', path: '/v1/chat/completions' },
      headers: JSON.stringify({ authorization: 'Bearer $ASSAY_API_KEY' }),
      ...{ body: '{}', maxTokens: null, n: null, promptHash: null },
    }
    const rows = (status: number, code: string) => [
      inFlight(0, ...([0, 1, 99] as const), {
        ...failed(
          status,
          code === 'no_permission' ? 'permission_error' : 'authentication_error',
          code,
        ),
        template: 0,
      }),
      inFlight(1, 2, 3, 98, { template: 0 }),
    ]
    const of = async (contract: Contract, status: number, code: string) =>
      (
        await verdictOver('AUTH-01', rows(status, code), {
          contract,
          templates: [template],
        })
      ).verdict
    expect(await of(both, 403, 'invalid_api_key')).toBe('fail')
    expect(await of(both, 401, 'missing_api_key')).toBe('fail')
    // A 403 of another meaning is none of the key.
    expect(await of(both, 403, 'no_permission')).toBe('pass')
    expect(await of(defaultContract, 403, 'insufficient_credits')).toBe('pass')
  })
})

const others = { code: 'slow_down', type: 'rate_limited', status: 429 }
const poor: Readonly<Record<string, readonly [number, string, string]>> = {
  'a 402': [402, 'payment_required', 'balance_empty'],
  'a 402 without a word for money': [402, 'refused', 'x17'],
  "LiteLLM's budget": [400, 'budget_exceeded', 'budget_exceeded'],
  'a 429 of a budget': [429, 'budget_exceeded', 'budget_exceeded'],
  'a hard limit': [429, 'insufficient_quota', 'billing_hard_limit_reached'],
  arrears: [400, 'Arrearage', 'Arrearage'],
  'a wallet': [403, 'forbidden', 'wallet_empty'],
  'a spend limit': [403, 'forbidden', 'spending_limit_reached'],
}

describe.each(Object.entries(poor))('want of credits as %s', (_, [status, type, code]) => {
  const contract = having([others, { code, type, status }])
  const refused = failed(status, type, code)

  test('is a refusal for want of credits', { tags: 'whole' }, async () => {
    const early = [read(0, 0, 100), inFlight(1, 1, 2, null, refused), read(2, 3, 100)]
    expect(await told('BILL-14', contract, ...early)).toBe('refused')
    const last = [read(0, 0, 1), inFlight(1, 1, 2, 0), inFlight(2, 3, 4, 0, refused), read(3, 5, 0)]
    expect(await told('BILL-13', contract, ...last)).toBe('pass')
  })

  test('is no rejection of a rate', { tags: 'whole' }, async () => {
    const rate = (remaining: number) => ({ rateLimit: 20, rateRemaining: remaining })
    const served = [1, 2, 3].map((at) => inFlight(at, at, at + 0.5, 3 - at, rate(20 - at)))
    const rows = [
      ...[read(0, 0, 3), ...served],
      inFlight(4, 4, 4.5, 0, { ...refused, ...rate(16) }),
      read(5, 5, 0),
    ]
    for (const rule of ['RATE-05', 'RATE-10', 'RATE-11'])
      expect([rule, await told(rule, contract, ...rows)]).not.toContain('429 on the next request')
    expect(await told('RATE-10', contract, ...rows)).toBe('not-observed')
  })

  test('comes before a missing path or model', { tags: 'whole' }, async () => {
    expect(await one('TRN-06', contract, { ...refused, expects: 'unknown-path' })).toBe(
      'not-observed',
    )
    const unknown = { ...refused, expects: 'unknown-model', model: 'nobody' }
    const named = having([...contract.chatErrors!, { code: 'no_model', type: 'x', status: 404 }])
    expect(await one('MODEL-05', named, unknown)).toBe('not-observed')
  })

  test('is expected with its own status where a request is served that the balance does not cover', {
    tags: 'whole',
  }, async () => {
    const rows = [read(0, 0, 0), inFlight(1, 1, 2, 0), read(2, 3, 0)]
    const verdict = await verdictOver('BILL-13', rows, { contract })
    expect(verdict).toMatchObject({
      verdict: 'fail',
      expected: expect.stringMatching(new RegExp(`^${status} for a request of 1 credit`)),
    })
  })
})

describe('overload', () => {
  const statuses = [200, 400, 401, 429, 500, 529]
  const anthropic: Contract = {
    ...defaultContract,
    statuses,
    messagesErrors: [
      { type: 'rate_limit_error', statuses: [429] },
      { type: 'api_error', statuses: [500] },
      { type: 'overloaded_error', statuses: [529] },
    ],
  }

  test('as 529 has the words of the contract', { tags: 'whole' }, async () => {
    const busy = ofMessages(529, 'overloaded_error')
    for (const rule of ['ERR-01', 'ERR-05'])
      expect([rule, await one(rule, anthropic, busy)]).toEqual([rule, 'pass'])
    expect(await one('RATE-06', anthropic, busy)).toBe('not-observed')
    expect(await one('ERR-05', anthropic, ofMessages(529, 'api_error'))).toBe(
      'api_error with status 529',
    )
    expect(await one('ERR-05', anthropic, ofMessages(503, 'overloaded_error'))).toBe(
      'overloaded_error with status 503',
    )
    expect(await one('ERR-01', { ...anthropic, statuses: [200, 429] }, busy)).toBe(
      'status 529 on messages',
    )
  })

  test.each(['engine_overloaded', 'service_tier_capacity_exceeded', 'server_busy'])(
    'as a 429 of its own is no rejection of a rate (%s)',
    { tags: 'whole' },
    async (code) => {
      const contract = having([others, { code, type: 'server_error', status: 429 }])
      const rate = (remaining: number) => ({ rateLimit: 20, rateRemaining: remaining })
      const refusedBy = async (errorType: string, errorCode: string, of = contract) =>
        told(
          'RATE-11',
          of,
          ...[1, 2, 3].map((at) => inFlight(at, at, at + 0.5, 50 - at, rate(20 - at))),
          inFlight(4, 4, 4.5, 47, { ...failed(429, errorType, errorCode), ...rate(16) }),
        )
      expect(await refusedBy('server_error', code)).not.toBe('429 on the next request')
      expect(await refusedBy('rate_limited', 'slow_down')).toBe('429 on the next request')
      const silent = having([{ code, type: 'server_error', status: 429 }])
      expect(await refusedBy('server_error', code, silent)).toBe('429 on the next request')
    },
  )
})

test('an error as plain text is told where the contract promises words (ERR-02), and is no other fault', {
  tags: 'whole',
}, async () => {
  const plain = failed(429, null, null, { errorShape: 'other' })
  const contract = having([others])
  expect(await one('ERR-02', contract, plain)).toBe('an error of shape other with 429')
  expect(await one('RATE-06', contract, plain)).not.toMatch(/type none/)
  const { chatErrors: _, ...silent } = contract
  expect(await one('ERR-02', silent, plain)).toBe('not-promised')
})
