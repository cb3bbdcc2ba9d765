import { expect, test } from 'vitest'
import type { FullContract } from '../../src/contract/contract.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { serving } from './serving.ts'

/** The message for the developer of a client: the expected and the given value, and the place. */
async function said(response: Response, status: number): Promise<string> {
  expect(response.status).toBe(status)
  return ((await response.json()) as { error: { message: string } }).error.message
}

test.each([
  [{ temperature: {} }, 'temperature: expected a number; got an object'],
  [{ max_tokens: 0 }, 'max_tokens: expected an integer from 1 to 128000; got 0'],
  [{ n: '1' }, 'n: expected an integer; got a string'],
  [{ messages: null }, 'messages: required; got null'],
  [
    { messages: [{ role: 'tool', content: '' }] },
    'messages[0].role: expected one of system, user, assistant; got "tool"',
  ],
  [
    { model: 'svc-k9' },
    'model: expected one of svc-k2, svc-k2-0905, svc-k2-thinking, svc-k2.5; got "svc-k9"',
  ],
])('a request with %j is refused with an explanation', async (body, words) => {
  const target = await serving()
  expect(await said(await target.chat(body), 400)).toBe(words)
  expect((await target.credits()).total_consumed).toBe(0)
})

test.each([
  ['', 'the body: expected a JSON object; got nothing'],
  ['[]', 'the body: expected a JSON object; got an array'],
  ['{"model": }', 'the body: expected JSON in UTF-8; Unexpected token'],
  [
    '{"model":"svc-k2","max_tokens":1e999,"messages":[{"role":"user","content":""}]}',
    'max_tokens: expected an integer from 1 to 128000; got Infinity',
  ],
])('a body %j is refused in the format of its endpoint', async (body, words) => {
  const target = await serving()
  const headers = { authorization: `Bearer ${target.key()}` }
  expect(await said(await target.post('/v1/chat/completions', body, headers), 400)).toContain(words)
  expect(await said(await target.post('/v1/messages', body, headers), 400)).toContain(words)
})

test.each([
  [
    [{ type: 'image' }],
    'messages[0].content[0]: expected a text block; got a block of type "image"',
  ],
  [['Hi'], 'messages[0].content[0]: expected a text block; got a string'],
])('a message of %j is refused with an explanation', async (content, words) => {
  const target = await serving()
  const answer = await target.messages({ messages: [{ role: 'user', content }] })
  expect(await said(answer, 400)).toBe(words)
})

test.each([
  ['POST', '/chat/completions', '; did you mean POST /v1/chat/completions?'],
  ['POST', '/v1/v1/messages', '; did you mean POST /v1/messages?'],
  ['GET', '/v1/Models/', '; did you mean GET /v1/models?'],
  ['GET', '/v1/user/credits', '; did you mean GET /user/credits?'],
  ['GET', '/v1/messages', '; it takes POST'],
  ['GET', '/v1/nope', ''],
  ['GET', '/', ''],
])('%s %s is a 404 that suggests the right path', async (method, path, way) => {
  const { service } = await serving()
  const response = await fetch(service.baseUrl + path, { method })
  expect(await said(response, 404)).toBe(`no such endpoint: ${method} ${path}${way}`)
})

test('error types are those of the contract, or else those of the kind of status', async () => {
  const contract: FullContract = {
    ...defaultContract,
    messagesErrors: [
      { type: 'auth_failed', statuses: [401] },
      { type: 'bad_request', statuses: null },
      { type: 'broken', statuses: [500, 503] },
    ],
    chatErrors: defaultContract.chatErrors.filter(({ code }) => code !== 'model_not_found'),
  }
  const target = await serving({ contract })
  const typeOf = async (response: Response) =>
    ((await response.json()) as { error: { type: string } }).error.type
  expect(await typeOf(await target.messages({}, 'no key'))).toBe('auth_failed')
  expect(await typeOf(await target.messages({ temperature: 9 }))).toBe('bad_request')
  expect(await typeOf(await target.chat({ model: 'none' }))).toBe('invalid_request_error')
})
