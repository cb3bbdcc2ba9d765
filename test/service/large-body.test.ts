import { expect, test } from 'vitest'
import { hello, operatorKey, serving } from './serving.ts'

const tooLong = { ...hello, padding: 'x'.repeat(16 << 20) }
const message = /^the body must not exceed 16777216 bytes; got 16777\d{3}$/

test('a body that is too long is a request error: its key is checked before', {
  tags: 'whole',
}, async () => {
  const target = await serving()
  expect((await target.chat(tooLong, 'sk-svc-nobody')).status).toBe(401)
  const refused = await target.chat(tooLong)
  expect(refused.status).toBe(400)
  expect(refused.headers.get('x-credits-remaining')).toBe('1000000')
  expect(refused.headers.get('x-ratelimit-limit')).toBe('500')
  expect(await refused.json()).toMatchObject({ error: { message: expect.stringMatching(message) } })
  const messages = await target.messages(tooLong)
  expect([messages.status, await messages.json()]).toMatchObject([
    400,
    { type: 'error', error: { message: expect.stringMatching(message) } },
  ])
})

test('its place among other errors, and whether it counts, depend on the profile', {
  tags: 'whole',
}, async () => {
  const accounts = [{ name: 'empty', balance: 0 }]
  for (const [precedence, status] of [
    [['key', 'credits', 'request', 'rate'], 403],
    [['key', 'request', 'credits', 'rate'], 400],
  ] as const) {
    const target = await serving({ accounts, profile: { precedence: [...precedence] } })
    expect((await target.chat(tooLong, target.key(1))).status).toBe(status)
  }
  const target = await serving({ profile: { counts: { request: true } } })
  const left = async () =>
    Number((await target.get('/v1/models')).headers.get('x-ratelimit-remaining'))
  const before = await left()
  await target.chat(tooLong)
  expect(await left()).toBe(before - 1)
})

test('a long body is also a 400 where no body is expected', async () => {
  const target = await serving({ operatorKey })
  for (const path of ['/operator/clock', '/sign-in', '/nowhere']) {
    expect([path, (await target.post(path, tooLong, {})).status]).toEqual([path, 400])
  }
})
