import { expect, onTestFinished, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import type { ProfileAnswers } from '../../src/service/profile.ts'
import { startService } from '../../src/service/start.ts'
import { readMessagesStream } from './contract/messages-stream.ts'
import { say, Target } from './contract/target.ts'
import { operatorKey } from './serving.ts'

async function targetOf(profile: ProfileAnswers): Promise<Target> {
  const service = await startService({ seed: 5, profile, operatorKey })
  onTestFinished(() => service.close())
  return new Target({
    baseUrl: service.baseUrl,
    contract: defaultContract,
    key: service.keys[1]!.apiKey,
    otherKey: service.keys[2]!.apiKey,
    operatorKey,
  })
}

test.each([
  ['none', 0, 0],
  ['models', 1, 0],
  ['credits', 0, 1],
  ['both', 1, 1],
] as const)('reads charged: %s (G-17)', async (readsCharged, models, credits) => {
  const t = await targetOf({ readsCharged })
  const { key } = await t.account(4)
  const listed = await t.models(key)
  expect([listed.status, listed.credits]).toEqual([200, 4 - models])
  const read = await t.creditsOf(key)
  const left = 4 - models - credits
  expect([read.credits, read.json.remaining, read.json.total_consumed]).toEqual([
    left,
    left,
    4 - left,
  ])
  // A read is not among the requests whose tokens are averaged.
  expect(read.json.requests).toBe(0)
  expect((await t.creditsOf(key, '?from=never')).status).toBe(400)
  for (let spent = 0; spent < left; spent++) await t.chat({}, key)
  expect((await t.creditsOf(key)).status).toBe(credits === 1 ? 403 : 200)
  expect((await t.models(key)).status).toBe(models === 1 ? 403 : 200)
})

test.each(['charged', 'free'] as const)(
  'an answer without a token is %s (G-16)',
  async (emptyAnswers) => {
    for (const charge of ['start', 'end'] as const) {
      const t = await targetOf({ emptyAnswers, charge })
      const { key } = await t.account(10)
      const empty = { messages: say('stop'), stop: ['stop'] }
      const cost = emptyAnswers === 'free' ? 0 : 1
      const plain = await t.chat(empty, key)
      expect([plain.json.usage.completion_tokens, plain.credits]).toEqual([0, 10 - cost])
      const stream = await t.chat({ ...empty, stream: true }, key)
      expect(stream.credits).toBe(10 - 2 * cost)
      expect(await t.remaining(key)).toBe(10 - 2 * cost)
      await t.chat({ max_tokens: 1 }, key)
      expect(await t.remaining(key)).toBe(9 - 2 * cost)
    }
  },
)

test.each(['named-events', 'chat-chunks', 'json'] as const)(
  'a messages stream of %s adds up to the message (G-10)',
  async (messagesStream) => {
    const t = await targetOf({ messagesStream })
    const messages = say('eins café – zwei')
    const whole = (await t.messages({ messages })).json
    const { text, headers } = await t.messages({ messages, stream: true })
    const type = headers.get('content-type') ?? ''
    expect(type).toContain(messagesStream === 'json' ? 'json' : 'event-stream')
    expect(text.includes('data: [DONE]')).toBe(messagesStream === 'chat-chunks')
    expect(readMessagesStream(text, type)).toEqual({
      text: whole.content.at(-1).text,
      outputTokens: whole.usage.output_tokens,
    })
    expect((await t.chat({ stream: true })).text.endsWith('data: [DONE]\n\n')).toBe(true)
  },
)

test.each(['fresh', 'inherited'] as const)('a new key starts %s (G-36)', async (newKey) => {
  const t = await targetOf({ newKey })
  const { id, key } = await t.account(90)
  for (let nth = 0; nth < 5; nth++) await t.rawChat({}, key)
  const second = await t.issueKey(id)
  const used = newKey === 'fresh' ? 0 : 5
  expect((await t.rawChat({}, second)).remaining).toBe(19 - used)
  // From then on each key counts for itself.
  expect((await t.rawChat({}, key)).remaining).toBe(14)
  expect((await t.rawChat({}, second)).remaining).toBe(18 - used)
})

test.each(['flat', 'nested', 'renamed'] as const)(
  'the credits body is %s (G-09)',
  async (creditsBody) => {
    const t = await targetOf({ creditsBody })
    const { key } = await t.account(10)
    await t.chat({ model: 'svc-k2.5' }, key)
    const { text, json } = await t.creditsOf(key)
    expect(json).toMatchObject({ remaining: 8, total_consumed: 2, consumed: 2, requests: 1 })
    expect(Object.keys(JSON.parse(text))).toContain(
      { flat: 'remaining', nested: 'balance', renamed: 'credits_left' }[creditsBody],
    )
  },
)
