import { expect } from 'vitest'
import { type Check, check, operated } from './check.ts'
import type { Target } from './target.ts'

/** One of each failure that a client can cause, in both formats. */
async function failures(t: Target) {
  const poor = t.address.operatorKey !== null ? await t.account(0) : null
  return [
    { meaning: 'key', ...(await both(t, {}, 'wrong')) },
    { meaning: 'request', ...(await both(t, { temperature: 9 })) },
    { meaning: 'request', ...(await both(t, { messages: null })) },
    { meaning: 'model', ...(await both(t, { model: 'none' })) },
    ...(poor === null ? [] : [{ meaning: 'credits', ...(await both(t, {}, poor.key)) }]),
  ]
}

const both = async (t: Target, body: object, key = t.address.key) => ({
  chat: await t.chat(body, key),
  messages: await t.messages(body, key),
})

export const errorChecks: readonly Check[] = [
  check('ERR-01', 'only statuses of the table are sent', async (t) => {
    for (const { chat, messages } of await failures(t)) {
      expect(t.contract.statuses).toContain(chat.status)
      expect(t.contract.statuses).toContain(messages.status)
    }
  }),
  check('ERR-02', 'chat errors are three strings', async (t) => {
    for (const { chat } of await failures(t)) {
      const { message, type, code } = chat.json.error
      expect([typeof message, typeof type, typeof code]).toEqual(['string', 'string', 'string'])
    }
  }),
  check('ERR-03', 'messages errors have their shape, and a type of the table', async (t) => {
    const types = t.contract.messagesErrors.map(({ type }) => type)
    for (const { messages } of await failures(t)) {
      expect(messages.json.type).toBe('error')
      expect(typeof messages.json.error.message).toBe('string')
      expect(types).toContain(messages.json.error.type)
      expect(messages.json.error.code).toBeUndefined()
    }
  }),
  check('ERR-04', 'each code has its type', async (t) => {
    for (const { chat } of await failures(t)) {
      const { code, type } = chat.json.error
      expect(t.contract.chatErrors.find((row) => row.code === code)?.type).toBe(type)
    }
  }),
  check('ERR-05', 'each kind of failure has its status', async (t) => {
    const statuses: Record<string, readonly number[]> = {
      key: [401],
      request: [400],
      model: [400, 404],
      credits: [403],
    }
    for (const { meaning, chat, messages } of await failures(t)) {
      expect(statuses[meaning]).toContain(chat.status)
      expect(messages.status).toBe(chat.status)
    }
  }),
  check('ERR-06', 'a success carries no error, a failure no completion', async (t) => {
    for (const answer of [await t.chat(), await t.messages(), await t.models()]) {
      expect(answer.status).toBe(200)
      expect(answer.json.error).toBeUndefined()
    }
    for (const { chat, messages } of await failures(t)) {
      expect(chat.json.choices).toBeUndefined()
      expect(messages.json.content).toBeUndefined()
    }
  }),
  operated('LIM-01', 'input beyond the window is refused, and free', async (t) => {
    const { key } = await t.account(500)
    // A word is a token, so this is beyond every window.
    const messages = [{ role: 'user', content: ' word'.repeat(260_000) }]
    for (const model of ['svc-k2', 'svc-k2-0905']) {
      const { status, json } = await t.chat({ model, messages }, key)
      expect([400, 404]).toContain(status)
      expect(json.error).toMatchObject({
        code: 'context_length_exceeded',
        type: 'invalid_request_error',
      })
    }
    expect(await t.remaining(key)).toBe(500)
  }),
  check('LIM-02', 'no answer exceeds 8,192 tokens', async (t) => {
    for (const max_tokens of [8_192, 8_193, 120_000]) {
      const messages = [{ role: 'user', content: 'Count from 1 to 9000' }]
      const { status, json } = await t.chat({ max_tokens, messages })
      expect([200, 400]).toContain(status)
      if (status === 200) expect(json.usage.completion_tokens).toBeLessThanOrEqual(8_192)
    }
  }),
  check('LIM-03', 'input and output together stay within 128,000', async (t) => {
    const messages = [{ role: 'user', content: ' word'.repeat(125_000) }]
    const { status, json } = await t.chat({ model: 'svc-k2', messages, max_tokens: 8_000 })
    if (status === 200) expect(json.usage.total_tokens).toBeLessThanOrEqual(128_000)
    else expect(json.error.code).toBe('context_length_exceeded')
  }),
]
