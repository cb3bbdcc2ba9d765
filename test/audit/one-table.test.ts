import { expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import { parseContract } from '../../src/contract/load.ts'
import { attempt } from '../report/attempts.ts'
import { verdictOver } from './verdict-over.ts'

/** Services that document the errors, the key or the limits of a part of what they offer. */

const contractOf = (more: object) =>
  parseContract({ name: 'mine', models: [{ id: 'svc-k2' }], ...more }, 'mine.yaml')

const chatAlone = contractOf({
  bands: [{ name: 'all', requests: { minute: 60 } }],
  chat_errors: [
    { code: 'invalid_api_key', type: 'invalid_request_error', status: 401 },
    { code: 'rate_limit_exceeded', type: 'rate_limit_error', status: 429 },
    { code: 'bad_request', type: 'invalid_request_error', status: 400 },
  ],
})
const messagesAlone = contractOf({
  bands: [{ name: 'all', requests: { minute: 60 } }],
  messages_errors: [
    { type: 'authentication_error', statuses: [401] },
    { type: 'rate_limit_error', statuses: [429] },
    { type: 'invalid_request_error', statuses: [400] },
  ],
})

const failed = (
  endpoint: AttemptRow['endpoint'],
  status: number,
  errorType: string,
  errorCode: string | null,
  more: Partial<AttemptRow> = {},
): AttemptRow =>
  attempt(0, {
    ...{ endpoint, outcome: 'http_error', status, errorType, errorCode },
    ...{ errorShape: errorCode === null ? 'messages' : 'chat', ...more },
  })

const told = async (rule: string, row: AttemptRow, contract = chatAlone) => {
  const verdict = await verdictOver(rule, [row, attempt(1)], { contract })
  return verdict.verdict === 'fail' ? verdict.observed : verdict.verdict
}
const noKey = { expects: 'invalid-key' } as const

test('ERR-05 judges the errors of chat by their table where messages have none', async () => {
  const rate = (status: number) => failed('chat', status, 'rate_limit_error', 'rate_limit_exceeded')
  expect(await told('ERR-05', rate(429))).toBe('pass')
  expect(await told('ERR-05', rate(503))).toBe('rate_limit_exceeded with status 503')
})

test('ERR-05 judges no errors of a format without a table, nor of the lists', {
  tags: 'whole',
}, async () => {
  expect(await told('ERR-05', failed('messages', 503, 'rate_limit_error', null))).toBe(
    'not-observed',
  )
  const inChatShape = failed('messages', 503, 'rate_limit_error', 'rate_limit_exceeded')
  expect(await told('ERR-05', inChatShape)).toBe('not-observed')
  expect(await told('ERR-05', { ...inChatShape, endpoint: 'models' })).toBe('not-observed')
  expect(await told('ERR-05', { ...inChatShape, endpoint: 'chat' }, messagesAlone)).toBe(
    'not-observed',
  )
  expect(
    await told('ERR-05', failed('messages', 503, 'rate_limit_error', null), messagesAlone),
  ).toBe('rate_limit_error with status 503')
})

test('ERR-05 without any table is not promised', async () => {
  const verdict = await verdictOver('ERR-05', [attempt(0)], { contract: contractOf({}) })
  expect(verdict).toEqual({
    verdict: 'not-promised',
    promises: ['chat_errors or messages_errors'],
  })
})

test('AUTH-05 judges the words for a key on the format that has them', {
  tags: 'whole',
}, async () => {
  const refused = (type: string, code: string) => failed('chat', 401, type, code, noKey)
  expect(await told('AUTH-05', refused('invalid_request_error', 'invalid_api_key'))).toBe('pass')
  expect(await told('AUTH-05', refused('invalid_request_error', 'who_are_you'))).toBe(
    'code who_are_you, type invalid_request_error on chat',
  )
  expect(await told('AUTH-05', failed('messages', 401, 'anything', null, noKey))).toBe(
    'not-observed',
  )
  expect(
    await told('AUTH-05', failed('messages', 401, 'anything', null, noKey), messagesAlone),
  ).toBe('code none, type anything on messages')
})

test('RATE-06 demands no words of a format without a table', { tags: 'whole' }, async () => {
  expect(await told('RATE-06', failed('messages', 429, 'slow_down', null))).toBe('pass')
  expect(await told('RATE-06', failed('chat', 429, 'slow_down', 'slow'))).toBe(
    '429 with type slow_down',
  )
  expect(await told('RATE-06', failed('chat', 429, 'slow_down', 'slow'), messagesAlone)).toBe(
    'pass',
  )
  expect(await told('RATE-06', failed('messages', 429, 'slow_down', null), messagesAlone)).toBe(
    '429 with type slow_down',
  )
})

test('MODEL-05 judges a service that has messages alone', { tags: 'whole' }, async () => {
  const unknown = { expects: 'unknown-model', model: 'nobody' } as const
  const refused = failed('messages', 404, 'not_found_error', null, unknown)
  expect(await told('MODEL-05', refused, messagesAlone)).toBe('pass')
  const served = attempt(0, { endpoint: 'messages', ...unknown })
  expect(await told('MODEL-05', served, messagesAlone)).toBe('served with status 200')
})

test.each([
  ['AUTH-03', 'missing-key'],
  ['AUTH-04', 'invalid-key'],
] as const)(
  '%s judges the format whose key header is promised',
  { tags: 'whole' },
  async (rule, expects) => {
    const contract = contractOf({ auth: { chat: { name: 'authorization', prefix: 'Bearer ' } } })
    const served = (endpoint: AttemptRow['endpoint']) => attempt(0, { endpoint, expects })
    expect(await told(rule, served('chat'), contract)).toBe('status 200 on chat')
    expect(await told(rule, served('messages'), contract)).not.toMatch(/status 200/)
  },
)

test('RATE-07 demands the headers that the contract names, also without that of the limit', {
  tags: 'whole',
}, async () => {
  const contract = contractOf({ headers: { rate_remaining: ['x-left'] } })
  expect(await told('RATE-07', attempt(0, { rateRemaining: null }), contract)).toBe(
    'x-left is missing',
  )
  const shown = [0, 1].map((slot) => attempt(slot, { rateRemaining: 5 - slot }))
  expect((await verdictOver('RATE-07', shown, { contract })).verdict).toBe('pass')
})
