import { expect } from 'vitest'
import { type Check, check } from './check.ts'
import { say } from './target.ts'

export const messagesChecks: readonly Check[] = [
  check('MSG-01', 'a message has its fields', async (t) => {
    const { json } = await t.messages()
    expect(json).toMatchObject({ type: 'message', role: 'assistant', model: 'svc-k2' })
    expect(json.id).not.toBe((await t.messages()).json.id)
    expect(json.content.at(-1)).toMatchObject({ type: 'text', text: expect.stringMatching(/./) })
    expect(Number.isInteger(json.usage.input_tokens)).toBe(true)
    expect(Number.isInteger(json.usage.output_tokens)).toBe(true)
  }),
  check('MSG-02', 'stop_sequence is null, or the one that ended the message', async (t) => {
    const plain = (await t.messages()).json
    expect(typeof plain.stop_reason).toBe('string')
    expect(plain.stop_sequence).toBeNull()
    const stop_sequences = ['nine', 'two']
    const stopped = (await t.messages({ stop_sequences, messages: say('one two three') })).json
    expect(stopped.stop_sequence).toBe('two')
    const short = (await t.messages({ max_tokens: 1, messages: say('one two') })).json
    expect([short.stop_reason, short.stop_sequence]).toEqual(['max_tokens', null])
  }),
  check('MSG-03', 'model, messages and max_tokens are required', async (t) => {
    for (const name of ['model', 'messages', 'max_tokens']) {
      const { status, json } = await t.messages({ [name]: undefined })
      expect([status, json.error.type]).toEqual([400, 'invalid_request_error'])
    }
  }),
  check('MSG-04', 'the system prompt is not a message', async (t) => {
    for (const role of ['system', 'tool', '']) {
      expect((await t.messages({ messages: [{ role, content: 'x' }] })).status).toBe(400)
    }
    for (const role of ['user', 'assistant']) {
      expect((await t.messages({ messages: [{ role, content: 'x' }] })).status).toBe(200)
    }
  }),
  check('MSG-05', 'temperature goes up to 1 on messages, and to 2 on chat', async (t) => {
    for (const temperature of [0, 1]) expect((await t.messages({ temperature })).status).toBe(200)
    for (const temperature of [-0.01, 1.01, 1.5]) {
      expect((await t.messages({ temperature })).status).toBe(400)
    }
    expect((await t.chat({ temperature: 1.5 })).status).toBe(200)
  }),
  check(
    'MSG-06',
    'at most four stop sequences are accepted, and metadata and system have their types',
    async (t) => {
      for (const body of [
        { stop_sequences: ['a', 'b', 'c', 'd'], metadata: { user_id: 'u' }, system: 'Be brief.' },
        { stop_sequences: null, metadata: null, system: null },
      ]) {
        expect((await t.messages(body)).status).toBe(200)
      }
      for (const body of [
        ...[{ stop_sequences: ['a', 'b', 'c', 'd', 'e'] }, { stop_sequences: 'a' }],
        ...[{ metadata: 'x' }, { metadata: [] }, { system: 5 }, { max_tokens: 0 }, { stream: 1 }],
      ]) {
        expect([body, (await t.messages(body)).status]).toEqual([body, 400])
      }
    },
  ),
  check('MSG-07', 'the system prompt is counted, and the limit holds', async (t) => {
    const without = (await t.messages()).json.usage.input_tokens
    const withSystem = (await t.messages({ system: 'Answer in verse.' })).json.usage.input_tokens
    expect(withSystem).toBeGreaterThan(without)
    const { usage } = (await t.messages({ max_tokens: 3, messages: say('one two three four') }))
      .json
    expect(usage.output_tokens).toBeLessThanOrEqual(3)
  }),
]
