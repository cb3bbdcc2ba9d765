import { expect } from 'vitest'
import { type Check, check } from './check.ts'
import { say } from './target.ts'

export const transportChecks: readonly Check[] = [
  check('TRN-01', 'the service uses HTTPS, except on this machine', async ({ address }) => {
    const { protocol, hostname } = new URL(address.baseUrl)
    const local = ['127.0.0.1', '[::1]', 'localhost'].includes(hostname)
    expect(protocol === 'https:' || local).toBe(true)
  }),
  check('TRN-02', 'bodies are JSON in UTF-8, for any content', async (t) => {
    const text = 'naïve café – 東京 🎉'
    const answers = [
      await t.chat({ messages: say(text) }),
      await t.messages({ messages: say(text) }),
      await t.models(),
      await t.chat({ model: 'none' }),
      await t.send('POST', t.contract.paths.chat, { body: '{"model": ' }),
      await t.get('/v1/nope'),
    ]
    for (const answer of answers) {
      expect(answer.json).not.toBeNull()
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
    }
    expect(answers[0]!.json.choices[0].message.content).toBe(text)
    expect(answers[1]!.json.content.at(-1).text).toBe(text)
  }),
  check('TRN-03', 'browsers may send requests, and read failures', async (t) => {
    for (const path of [t.contract.paths.chat, t.contract.paths.messages]) {
      const asked = await t.send('OPTIONS', path, {
        headers: {
          origin: 'https://example.org',
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization,x-api-key,content-type',
        },
      })
      expect(Math.floor(asked.status / 100)).toBe(2)
      expect(asked.headers.get('access-control-allow-origin')).toMatch(
        /^(\*|https:\/\/example.org)$/,
      )
      const allowed = asked.headers.get('access-control-allow-headers')?.toLowerCase() ?? ''
      for (const name of ['authorization', 'x-api-key', 'content-type']) {
        expect(allowed).toContain(name)
      }
    }
    for (const answer of [
      await t.chat(),
      await t.chat({ stream: true }),
      await t.chat({ model: null }),
      await t.chat({}, 'wrong'),
      await t.get('/v1/nope'),
      await t.models(),
    ]) {
      expect(answer.headers.get('access-control-allow-origin')).not.toBeNull()
    }
  }),
  check('TRN-04', 'browsers can read the headers of billing and limits', async (t) => {
    const exposed = (await t.chat()).headers.get('access-control-expose-headers')?.toLowerCase()
    for (const [name] of Object.values(t.contract.headers)) expect(exposed).toContain(name)
  }),
  check('TRN-05', 'the four endpoints are at their paths', async (t) => {
    for (const answer of [
      await t.chat(),
      await t.messages(),
      await t.models(),
      await t.creditsOf(t.address.key),
    ]) {
      expect(answer.status).toBe(200)
    }
  }),
  check('TRN-06', 'other paths and methods are 404', async (t) => {
    for (const [method, path] of [
      ['POST', '/v1/nope'],
      ['GET', '/v2/models'],
      ['GET', '/v1/user/credits'],
      ['POST', '/chat/completions'],
    ] as const) {
      const answer = await t.send(method, path, {
        headers: { authorization: `Bearer ${t.address.key}` },
        ...(method === 'POST' ? { body: {} } : {}),
      })
      expect(answer.status).toBe(404)
    }
  }),
]
