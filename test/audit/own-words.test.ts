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

test('a refusal for want of credits is what the contract says, whatever its status', async () => {
  const refused = failed(429, 'insufficient_quota', 'insufficient_quota')
  const rows = [read(0, 0, 100), inFlight(1, 1, 2, null, refused), read(2, 3, 100)]
  const of = (each: Contract) => verdictOver('BILL-14', rows, { contract: each })
  expect((await of(contract)).verdict).toBe('fail')
  expect((await of(defaultContract)).verdict).not.toBe('fail')
})
