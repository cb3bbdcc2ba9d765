import { expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import type { Contract } from '../../src/contract/contract.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { inFlight, read } from './in-flight.ts'
import { verdictOver } from './verdict-over.ts'

/** A service with words of its own for its errors; two of them come with a 429, as at OpenAI. */
const contract: Contract = {
  ...defaultContract,
  chatErrors: [
    { code: 'slow_down', type: 'rate_limited', status: 429 },
    { code: 'insufficient_quota', type: 'insufficient_quota', status: 429 },
    { code: 'bad_request', type: 'request_error', status: 400 },
  ],
  messagesErrors: [{ type: 'overuse', statuses: [429] }],
}
const failed = (status: number, errorType: string, errorCode: string | null, more = {}) => ({
  ...{ outcome: 'http_error', status, errorType, errorCode },
  ...{ errorShape: errorCode === null ? 'messages' : 'chat', ...more },
})
const told = async (rule: string, more: object, of: Contract = contract) => {
  const rows: readonly AttemptRow[] = [inFlight(0, 0, 1, 99), inFlight(1, 2, 3, null, more)]
  const verdict = await verdictOver(rule, rows, { contract: of })
  return verdict.verdict === 'fail' ? verdict.observed : verdict.verdict
}

test('RATE-06 demands the words that the contract has for 429, and no others', {
  tags: 'whole',
}, async () => {
  expect(await told('RATE-06', failed(429, 'rate_limited', 'slow_down'))).toBe('pass')
  expect(await told('RATE-06', failed(429, 'insufficient_quota', 'insufficient_quota'))).toBe(
    'pass',
  )
  expect(await told('RATE-06', failed(429, 'overuse', null, { endpoint: 'messages' }))).toBe('pass')
  expect(await told('RATE-06', failed(429, 'rate_limit_error', 'rate_limit_exceeded'))).toBe(
    '429 with type rate_limit_error',
  )
  expect(await told('RATE-06', failed(429, 'rate_limited', 'insufficient_quota'))).toBe(
    '429 with code insufficient_quota',
  )
  expect(await told('RATE-06', failed(403, 'rate_limited', 'slow_down'))).toBe(
    'status 403 with slow_down',
  )
})

test('RATE-06 judges no words where the contract has none for 429', async () => {
  const silent = { ...contract, chatErrors: [contract.chatErrors![2]!], messagesErrors: [] }
  expect(await told('RATE-06', failed(429, 'anything', 'at_all'), silent)).toBe('pass')
})

test('MODEL-05 demands the code of an unknown model only of a contract that has it', async () => {
  const unknown = { expects: 'unknown-model', model: 'nobody' }
  const refused = failed(400, 'request_error', 'no_such_model', unknown)
  expect(await told('MODEL-05', refused)).toBe('pass')
  expect(await told('MODEL-05', refused, defaultContract)).toBe('code "no_such_model"')
})

test('a refusal for want of credits is what the contract says, whatever its status', {
  tags: 'whole',
}, async () => {
  const refused = failed(429, 'insufficient_quota', 'insufficient_quota')
  const rows = [read(0, 0, 100), inFlight(1, 1, 2, null, refused), read(2, 3, 100)]
  const of = (each: Contract) => verdictOver('BILL-14', rows, { contract: each })
  expect((await of(contract)).verdict).toBe('fail')
  expect((await of(defaultContract)).verdict).toBe('not-observed')
})

/** A service that has a 429 for credits, 403 for keys, two codes for a 401 on messages, and a word of its own for models. */
const others: Contract = {
  ...contract,
  chatErrors: [
    { code: 'slow_down', type: 'rate_limited', status: 429 },
    { code: 'insufficient_quota', type: 'insufficient_quota', status: 429 },
    { code: 'no_such_model', type: 'request_error', status: 404 },
    { code: 'key_unknown', type: 'key_error', status: 403 },
  ],
  messagesErrors: [],
}
const rate = (remaining: number) => ({ rateLimit: 20, rateRemaining: remaining })
const poor = failed(429, 'insufficient_quota', 'insufficient_quota', rate(16))
const slow = failed(429, 'rate_limited', 'slow_down', rate(16))

test.each(['RATE-10', 'RATE-11'])(
  '%s does not take a 429 for want of credits for one of a rate',
  { tags: 'whole' },
  async (rule) => {
    const after = async (second: object, of = others) => {
      const served = [1, 2, 3].map((at) => inFlight(at, at, at + 0.5, 3 - at, rate(20 - at)))
      const rows = [read(0, 0, 3), ...served, inFlight(4, 4, 4.5, 0, second), read(5, 5, 0)]
      return (await verdictOver(rule, rows, { contract: of })).verdict
    }
    expect(await after(poor)).not.toBe('fail')
    expect(await after(slow)).toBe('fail')
    // A contract with this one 429 has it for its rates, too.
    const [, alone] = others.chatErrors!
    expect(await after(poor, { ...others, chatErrors: [alone!] })).toBe('fail')
  },
)

test.each([
  ['AUTH-03', 'missing-key'],
  ['AUTH-04', 'invalid-key'],
])(
  '%s demands the status that the tables have for a key',
  { tags: 'whole' },
  async (rule, expects) => {
    const forbidden = failed(403, 'key_error', 'key_unknown', { expects })
    expect(await told(rule, forbidden, others)).toBe('pass')
    expect(await told(rule, { ...forbidden, status: 400 }, others)).toBe('status 400 on chat')
    expect(await told(rule, forbidden, defaultContract)).toBe('status 403 on chat')
    // A 403 that the table has for credits alone is not for keys.
    const ofCredits = {
      ...others,
      chatErrors: [{ code: 'insufficient_credits', type: 'insufficient_quota', status: 403 }],
    }
    expect(await told(rule, forbidden, ofCredits)).toBe('status 403 on chat')
  },
)

test('AUTH-05 knows every code that the contract has for a 401, and demands none of a table without one', {
  tags: 'whole',
}, async () => {
  const expired = { code: 'key_expired', type: 'invalid_request_error', status: 401 }
  const two = { ...defaultContract, chatErrors: [...defaultContract.chatErrors, expired] }
  const refused = failed(401, 'invalid_request_error', 'key_expired', { expects: 'invalid-key' })
  expect(await told('AUTH-05', refused, two)).toBe('pass')
  expect(await told('AUTH-05', refused, defaultContract)).toBe(
    'code key_expired, type invalid_request_error on chat',
  )
  const silent = { ...others, chatErrors: [] }
  expect(await told('AUTH-05', refused, silent)).not.toBe(
    'code key_expired, type invalid_request_error on chat',
  )
})

test('a model that is not found in the words of the contract is no missing path, and is told of a model that it has', {
  tags: 'whole',
}, async () => {
  const unknown = failed(404, 'request_error', 'no_such_model', { model: 'nobody' })
  const alone = (row: object, of = others) =>
    verdictOver('TRN-05', [inFlight(0, 0, 1, null, row)], { contract: of })
  expect((await alone(unknown)).verdict).toBe('not-observed')
  const named = { ...unknown, errorCode: null, errorMessage: 'model: nobody' }
  expect((await alone(named)).verdict).toBe('not-observed')
  expect((await alone({ ...unknown, errorCode: 'not_found' })).verdict).toBe('fail')
  expect(await told('MODEL-05', { ...unknown, expects: 'unknown-model' }, others)).toBe('pass')
})

test('a path that is unknown may be refused for want of credits with a 402', async () => {
  const path = failed(402, 'payment', 'payment_required', { expects: 'unknown-path' })
  expect(await told('TRN-06', path, others)).toBe('not-observed')
  expect(await told('TRN-06', { ...path, status: 400 }, others)).toBe('status 400')
})

test('a 403 for an unknown path is a fault, also where the contract has no 403 of its own', async () => {
  const path = failed(403, 'denied', 'forbidden', { expects: 'unknown-path' })
  expect(await told('TRN-06', path)).toBe('status 403')
})
