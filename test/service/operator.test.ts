import { request } from 'undici'
import { expect, test } from 'vitest'
import { manualClock } from './manual-clock.ts'
import { asOperator, operatorKey, serving } from './serving.ts'

test("the operator's endpoint exists only if it was requested", async () => {
  const target = await serving()
  expect((await target.post('/operator/clock', { advance_s: 60 }, {})).status).toBe(404)
})

test('it moves the clock, balances and keys, only from this machine and not from a browser', async () => {
  const target = await serving({ operatorKey })
  const operate = async (path: string, body: object, headers = {}) => {
    const response = await target.post(`/operator${path}`, body, { ...asOperator, ...headers })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const before = target.service.operator.nowUs()
  expect((await operate('/clock', { advance_s: 3_600 })).status).toBe(200)
  expect(target.service.operator.nowUs() - before).toBeGreaterThanOrEqual(3_600e6)
  const { account } = (await operate('/accounts', { name: 'x', balance: 3 })).body
  const { api_key } = (await operate(`/accounts/${account}/keys`, { name: 'k' })).body
  expect((await operate(`/accounts/${account}/top-up`, { credits: 4 })).body.balance).toBe(7)
  expect((await target.credits(String(api_key))).remaining).toBe(7)
  expect((await operate('/accounts/find', { api_key })).body).toEqual({ account, balance: 7 })
  expect((await operate('/accounts/find', { api_key: 'sk-svc-unknown' })).status).toBe(404)
  expect(
    (await operate('/clock', { advance_s: 1 }, { origin: 'http://evil.example' })).status,
  ).toBe(403)
  expect((await operate('/clock', { advance_s: -1 })).status).toBe(400)
  expect((await operate(`/accounts/${account}/balance`, { balance: 'x' })).status).toBe(400)
  expect(await operate('/accounts/999/balance', { balance: 1 })).toMatchObject({
    status: 404,
    body: { error: { message: 'no account 999; GET /operator/accounts lists them' } },
  })
})

test.each([
  ['no key', {}],
  ['another key', { authorization: 'Bearer op-other' }],
  ['the key of an account', null],
])("with %s a request is not the operator's, even through a proxy", async (_, headers) => {
  const target = await serving({ operatorKey })
  const sent = headers ?? { authorization: `Bearer ${target.key()}` }
  const refused = await target.post('/operator/accounts/1/balance', { balance: 7 }, sent)
  expect(refused.status).toBe(401)
  expect(await refused.text()).toContain('ASSAY_OPERATOR_KEY')
  expect(target.service.operator.balance(1)).toBe(100)
})

test('an invalid call is refused with the expected and the given value', async () => {
  const target = await serving({ operatorKey })
  const said = async (path: string, body: unknown) => {
    const response = await target.post(`/operator${path}`, body, asOperator)
    expect(response.status).toBe(400)
    return ((await response.json()) as { error: { message: string } }).error.message
  }
  expect(await said('/clock', { advance_s: -1 })).toBe(
    'advance_s: expected a number of seconds from 0 to 1000000000; got -1',
  )
  expect(await said('/clock', { advance_ms: 1 })).toBe(
    'advance_s: expected a number of seconds from 0 to 1000000000; got nothing; ' +
      'the body: expected {"advance_s": 60} and nothing else',
  )
  expect(await said('/accounts/1/balance', { balance: 1.5 })).toBe(
    'balance: expected a whole number from -1000000000 to 1000000000; got 1.5',
  )
  expect(await said('/accounts', { name: 'big', balance: 1e16 })).toBe(
    'balance: expected a whole number from -1000000000 to 1000000000; got 10000000000000000',
  )
  expect(await said('/accounts', { name: 'band-2', balance: 5 })).toBe(
    'name: expected one that no account has; "band-2" is that of account 2, whose balance ' +
      'POST /operator/accounts/2/balance sets',
  )
  expect(target.service.operator.balance(2)).toBe(1_000)
  expect(await said('/clock', '{')).toBe('expected a body in JSON')
  expect(await said('/clock', [])).toBe('the body: expected {"advance_s": 60}; got []')
})

test('the clock cannot move beyond times that are whole microseconds', async () => {
  const target = await serving({
    operatorKey,
    clock: manualClock(Date.UTC(2190, 0) * 1000),
  })
  const response = await target.post('/operator/clock', { advance_s: 1e9 }, asOperator)
  expect(response.status).toBe(400)
  expect(await response.text()).toContain('expected a move to 2200-01-01')
  expect(target.service.operator.nowUs()).toBe(Date.UTC(2190, 0) * 1000)
})

test.each([
  ['a browser page', { origin: 'null' }],
  ['a browser without an Origin header', { 'sec-fetch-site': 'same-origin' }],
  ['a proxy', { 'x-forwarded-for': '203.0.113.7' }],
  ['a foreign host name for this address', { host: 'evil.example:80' }],
])('operator calls from %s are refused', async (_, headers) => {
  const target = await serving({ operatorKey })
  const { statusCode, body } = await request(`${target.service.baseUrl}/operator/accounts`, {
    headers: { ...asOperator, ...headers },
  })
  expect(statusCode).toBe(403)
  expect(await body.text()).not.toContain('band-1')
})

test('a request that repeats its Idempotency-Key gets the same answer, free', async () => {
  const target = await serving({ profile: { idempotencyKey: 'replayed' } })
  const send = (key: string) => target.chat({}, target.key(), { 'idempotency-key': key })
  const [first, again, other] = [await send('a'), await send('a'), await send('b')]
  const ids = await Promise.all(
    [first, again, other].map(async (each) => ((await each.json()) as { id: string }).id),
  )
  expect(ids[1]).toBe(ids[0])
  expect(ids[2]).not.toBe(ids[0])
  expect((await target.credits()).total_consumed).toBe(2)
})

test('a stream that repeats its Idempotency-Key is a new one, and charged', async () => {
  const target = await serving({ profile: { idempotencyKey: 'replayed' } })
  for (let sent = 0; sent < 2; sent++) {
    const answer = await target.chat({ stream: true }, target.key(), { 'idempotency-key': 'a' })
    expect(await answer.text()).toContain('[DONE]')
  }
  expect((await target.credits()).total_consumed).toBe(2)
})

test('tools are not a parameter of the specification: ignored, or refused', async () => {
  const tools = [{ type: 'function', function: { name: 'f', parameters: {} } }]
  expect((await (await serving()).chat({ tools })).status).toBe(200)
  const strict = await serving({ profile: { unknownFields: 'refused' } })
  const refused = await strict.chat({ tools })
  expect(refused.status).toBe(400)
  expect(((await refused.json()) as { error: { message: string } }).error.message).toContain(
    'tools',
  )
  expect((await strict.messages({ metadata: { user_id: 'u' } })).status).toBe(200)
})
