import { expect, test } from 'vitest'
import { serving } from './serving.ts'

test("the operator's endpoint is not there unless it was asked for", async () => {
  const target = await serving()
  expect((await target.post('/operator/clock', { advance_s: 60 }, {})).status).toBe(404)
})

test('it moves the clock, balances and keys, for this machine and no browser', async () => {
  const target = await serving({ operatorEndpoint: true })
  const operate = async (path: string, body: object, headers = {}) => {
    const response = await target.post(`/operator${path}`, body, headers)
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
  expect((await operate('/accounts/999/balance', { balance: 1 })).status).toBe(404)
})

test('a request that comes again with its Idempotency-Key is answered again, free', async () => {
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

test('tools are no parameter of the specification: not looked at, or refused', async () => {
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
