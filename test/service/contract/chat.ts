import { expect } from 'vitest'
import { type Check, check } from './check.ts'
import { say } from './target.ts'

const user = (content: string) => [{ role: 'user', content }]

export const chatChecks: readonly Check[] = [
  check('CHAT-01', 'a completion has its fields', async (t) => {
    const { json } = await t.chat()
    expect(json).toMatchObject({ object: 'chat.completion', id: expect.stringMatching(/./) })
    expect(typeof json.system_fingerprint).toBe('string')
    expect(Number.isInteger(json.created)).toBe(true)
    expect(json.created).toBeLessThan(1e11)
    expect(Object.keys(json.usage).sort()).toEqual([
      'completion_tokens',
      'prompt_tokens',
      'total_tokens',
    ])
  }),
  check('CHAT-02', 'each completion has its own id', async (t) => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => t.chat()))
    expect(new Set(answers.map(({ json }) => json.id)).size).toBe(5)
  }),
  check('CHAT-03', 'a completion names the requested model', async (t) => {
    for (const { id } of t.contract.models) {
      expect((await t.chat({ model: id })).json.model).toBe(id)
    }
  }),
  check('CHAT-04', 'n choices are numbered and from the assistant', async (t) => {
    for (const n of [1, 2, 4]) {
      const { choices } = (await t.chat({ n })).json
      expect(choices.map(({ index }: { index: number }) => index)).toEqual([...Array(n).keys()])
      for (const { message } of choices) {
        expect(message.role).toBe('assistant')
        expect(typeof message.content).toBe('string')
      }
    }
  }),
  check('CHAT-05', 'finish_reason is one of the contract', async (t) => {
    for (const body of [{}, { max_tokens: 1 }, { stop: ['a'] }]) {
      const [{ finish_reason }] = (await t.chat(body)).json.choices
      expect(t.contract.finishReasons).toContain(finish_reason)
    }
  }),
  check('CHAT-06', 'an answer at the limit ends with length and never exceeds it', async (t) => {
    for (const n of [1, 3]) {
      const { choices, usage } = (await t.chat({ max_tokens: 1, n, messages: say('one two') })).json
      for (const { finish_reason } of choices) expect(finish_reason).toBe('length')
      expect(usage.completion_tokens).toBeLessThanOrEqual(n)
    }
    const whole = (await t.chat({ max_tokens: 60, messages: say('one two') })).json
    expect(whole.choices[0].finish_reason).toBe('stop')
  }),
  check('CHAT-07', 'a stop sequence ends the text', async (t) => {
    for (const stop of ['three', ['nine', 'three']]) {
      const [choice] = (await t.chat({ stop, messages: say('one two three four') })).json.choices
      expect(choice.finish_reason).toBe('stop')
      expect(choice.message.content).toMatch(/^one two (three)?$/)
    }
  }),
  check('CHAT-08', 'total tokens are the sum', async (t) => {
    for (const body of [{}, { n: 2 }, { model: 'svc-k2-thinking' }]) {
      const { usage } = (await t.chat(body)).json
      for (const tokens of Object.values(usage)) expect(Number.isInteger(tokens)).toBe(true)
      expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens)
      expect(usage.prompt_tokens).toBeGreaterThan(0)
    }
  }),
  check('CHAT-09', 'prompt tokens match the prompt', async (t) => {
    const tokens = async (body: object) => (await t.chat(body)).json.usage.prompt_tokens
    const short = await tokens({ messages: user('Tell me') })
    const long = await tokens({ messages: user('Tell me about the history of light') })
    expect(await tokens({ messages: user('Tell me') })).toBe(short)
    expect(long).toBeGreaterThan(short)
  }),
  check('CHAT-10', 'model and messages are required', async (t) => {
    for (const body of [{ model: undefined }, { messages: undefined }]) {
      const { status, json } = await t.chat(body)
      expect([status, json.error.code]).toEqual([400, 'invalid_request'])
    }
  }),
  check('CHAT-11', 'messages have a known role and content', async (t) => {
    for (const message of [
      ...[{ role: 'tool', content: 'x' }, { role: 'user' }, { content: 'x' }, 'x', null],
      { role: 'user', content: 5 },
    ]) {
      expect((await t.chat({ messages: [message] })).status).toBe(400)
    }
    for (const role of ['system', 'user', 'assistant']) {
      expect((await t.chat({ messages: [{ role, content: 'x' }] })).status).toBe(200)
    }
  }),
  check('CHAT-12', 'values just inside the ranges are accepted, just outside not', async (t) => {
    for (const body of [
      ...[{ temperature: 0 }, { temperature: 2 }, { frequency_penalty: -2 }, { top_p: 1 }],
      ...[{ frequency_penalty: 2 }, { presence_penalty: -2 }, { presence_penalty: 2 }],
      ...[{ max_tokens: 1 }, { max_tokens: 8_192 }, { stop: 'a' }, { stop: ['a', 'b', 'c', 'd'] }],
      ...[{ user: 'u1' }, { n: 1 }, { temperature: null }, { stop: null }, { user: null }],
    ]) {
      expect([body, (await t.chat(body)).status]).toEqual([body, 200])
    }
    for (const body of [
      ...[{ temperature: -0.01 }, { temperature: 2.01 }, { temperature: '1' }, { user: 5 }],
      ...[{ frequency_penalty: -2.01 }, { frequency_penalty: 2.01 }, { presence_penalty: 'x' }],
      ...[{ presence_penalty: -2.01 }, { presence_penalty: 2.01 }, { top_p: 'x' }, { n: 0 }],
      ...[{ max_tokens: 0 }, { max_tokens: 128_001 }, { max_tokens: 1.5 }, { max_tokens: '5' }],
      ...[{ stop: ['a', 'b', 'c', 'd', 'e'] }, { stop: 5 }, { stop: [5] }, { stream: 'yes' }],
      ...[{ n: 1.5 }, { n: '1' }, { messages: 'x' }, { messages: {} }, { model: 5 }],
    ]) {
      expect([body, (await t.chat(body)).status]).toEqual([body, 400])
    }
  }),
  check('CHAT-13', 'the defaults are 1024 tokens, one choice, no stream', async (t) => {
    const { json } = await t.chat({ messages: user('Count from 1 to 900') })
    expect(json.object).toBe('chat.completion')
    expect(json.choices).toHaveLength(1)
    expect(json.choices[0].finish_reason).toBe('length')
    expect(json.usage.completion_tokens).toBeLessThanOrEqual(1024)
  }),
]
