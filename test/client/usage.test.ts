import { describe, expect, test } from 'vitest'
import { flags } from '../../src/attempt/flags.ts'
import { tokenColumns } from '../../src/client/document/usage-counts.ts'
import type { Endpoint } from '../../src/contract/request.ts'
import { answer, delta, done, event, stopped, stream } from './answers.ts'
import { send } from './asking.ts'

type Tokens = Partial<Record<(typeof tokenColumns)[number], number>>

const tokensOf = (columns: Readonly<Record<string, unknown>>): Tokens =>
  Object.fromEntries(
    tokenColumns.flatMap((name) => (columns[name] === null ? [] : [[name, columns[name]]])),
  )

/** Usage as services state it, and the tokens in the normal form. */
const cases: readonly (readonly [string, Endpoint, object, Tokens])[] = [
  [
    'counts alone',
    'chat',
    { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 },
    { promptTokens: 9, completionTokens: 4, totalTokens: 13 },
  ],
  [
    'counts that are none',
    'chat',
    { prompt_tokens: 9.5, completion_tokens: -5, total_tokens: 1e308 },
    {},
  ],
  [
    'details of chat, which the totals include',
    'chat',
    {
      prompt_tokens: 2006,
      completion_tokens: 300,
      total_tokens: 2306,
      prompt_tokens_details: { cached_tokens: 1920, audio_tokens: 6, cache_write_tokens: 30 },
      completion_tokens_details: { reasoning_tokens: 250, audio_tokens: 0 },
    },
    {
      promptTokens: 2006,
      cachedTokens: 1920,
      cacheWriteTokens: 30,
      inputAudioTokens: 6,
      completionTokens: 300,
      reasoningTokens: 250,
      outputAudioTokens: 0,
      totalTokens: 2306,
    },
  ],
  [
    'cache hits and misses of DeepSeek',
    'chat',
    {
      prompt_tokens: 100,
      completion_tokens: 4,
      total_tokens: 104,
      prompt_cache_hit_tokens: 64,
      prompt_cache_miss_tokens: 36,
    },
    { promptTokens: 100, cachedTokens: 64, completionTokens: 4, totalTokens: 104 },
  ],
  [
    'cached tokens at the top, as Moonshot states them',
    'chat',
    { prompt_tokens: 100, completion_tokens: 4, cached_tokens: 64 },
    { promptTokens: 100, cachedTokens: 64, completionTokens: 4 },
  ],
  [
    'messages without a cache',
    'messages',
    { input_tokens: 21, output_tokens: 393 },
    { promptTokens: 21, completionTokens: 393 },
  ],
  [
    'messages, whose input excludes the cache',
    'messages',
    {
      input_tokens: 21,
      cache_read_input_tokens: 188086,
      cache_creation_input_tokens: 456,
      cache_creation: { ephemeral_5m_input_tokens: 400, ephemeral_1h_input_tokens: 56 },
      output_tokens: 393,
    },
    {
      promptTokens: 188563,
      cachedTokens: 188086,
      cacheWriteTokens: 400,
      cacheWrite1hTokens: 56,
      completionTokens: 393,
    },
  ],
  [
    'Responses',
    'responses',
    {
      input_tokens: 36,
      input_tokens_details: { cached_tokens: 12 },
      output_tokens: 87,
      output_tokens_details: { reasoning_tokens: 64 },
      total_tokens: 123,
    },
    {
      promptTokens: 36,
      cachedTokens: 12,
      completionTokens: 87,
      reasoningTokens: 64,
      totalTokens: 123,
    },
  ],
  [
    'the chat form of a gateway with the fields of messages, which include the cache',
    'chat',
    {
      prompt_tokens: 3000,
      completion_tokens: 50,
      total_tokens: 3050,
      prompt_tokens_details: { cached_tokens: 2455, cache_creation_tokens: 100 },
      cache_read_input_tokens: 2455,
      cache_creation_input_tokens: 100,
    },
    {
      promptTokens: 3000,
      cachedTokens: 2455,
      cacheWriteTokens: 100,
      completionTokens: 50,
      totalTokens: 3050,
    },
  ],
  [
    'new-api with the semantic of messages',
    'chat',
    {
      prompt_tokens: 21,
      completion_tokens: 5,
      usage_semantic: 'anthropic',
      prompt_tokens_details: { cached_tokens: 100 },
    },
    { promptTokens: 121, cachedTokens: 100, completionTokens: 5 },
  ],
  ['an unknown count', 'chat', { prompt_tokens: 5, tokens: 9 }, { promptTokens: 5 }],
  ['null and text for counts', 'chat', { prompt_tokens: null, completion_tokens: '7' }, {}],
]

const bodies: Record<string, object> = {
  chat: { choices: [{ index: 0, message: { content: 'a' }, finish_reason: 'stop' }] },
  messages: { type: 'message', content: [{ type: 'text', text: 'a' }], stop_reason: 'end_turn' },
  responses: { status: 'completed', output: [{ content: [{ type: 'output_text', text: 'a' }] }] },
}

describe.each(cases)('usage with %s', (_what, endpoint, usage, tokens) => {
  test('has its tokens in the normal form, in a body', async () => {
    const { origin } = await answer(200, JSON.stringify({ ...bodies[endpoint], usage }))
    for (let again = 0; again < 2; again++) {
      const { columns } = await send(origin, { endpoint })
      expect([columns.outcome, tokensOf(columns)]).toEqual(['ok', tokens])
    }
  })

  test('has the same in a stream', async () => {
    const ends: Record<string, readonly string[]> = {
      chat: [delta('a', stopped), `data: ${JSON.stringify({ choices: [], usage })}\n\n`, done],
      messages: [
        event('message_start', { message: { usage } }),
        event('content_block_delta', { delta: { text: 'a' } }),
        event('message_delta', { delta: { stop_reason: 'end_turn' } }),
        event('message_stop', {}),
      ],
      responses: [
        event('response.output_text.delta', { delta: 'a' }),
        event('response.completed', { response: { status: 'completed', usage } }),
      ],
    }
    const { origin } = await stream(...ends[endpoint]!)
    const { columns } = await send(origin, { endpoint, stream: true })
    expect([columns.outcome, tokensOf(columns)]).toEqual(['ok', tokens])
  })
})

async function streamed(usages: readonly object[], content = 'a') {
  const chunks = usages.map((more) => delta(content, more))
  const { origin } = await stream(...chunks, delta('', stopped), done)
  return tokensOf((await send(origin, { stream: true })).columns)
}

describe('usage in a stream', () => {
  const usage = (prompt: number, completion: number, cached: number) => ({
    usage: {
      prompt_tokens: prompt,
      completion_tokens: completion,
      prompt_tokens_details: { cached_tokens: cached },
    },
  })

  test('is that of the last chunk, because it is cumulative', async () => {
    expect(await streamed([usage(9, 1, 8), usage(9, 2, 8), usage(9, 3, 8)])).toEqual({
      promptTokens: 9,
      cachedTokens: 8,
      completionTokens: 3,
    })
  })

  test('keeps a count that a later chunk states as 0 or null', async () => {
    const none = { usage: { prompt_tokens: 0, completion_tokens: null } }
    expect(await streamed([usage(9, 3, 8), none])).toEqual({
      promptTokens: 9,
      cachedTokens: 8,
      completionTokens: 3,
    })
  })

  test('is read from the extension of a gateway', async () => {
    const { origin } = await stream(
      delta('a', stopped),
      `data: {"choices":[],"x_groq":{"id":"r","usage":{"prompt_tokens":4,"completion_tokens":2}}}\n\n`,
      done,
    )
    const { columns } = await send(origin, { stream: true })
    expect(tokensOf(columns)).toEqual({ promptTokens: 4, completionTokens: 2 })
  })

  test('of a later event in messages may raise the input', async () => {
    const { origin } = await stream(
      event('message_start', { message: { usage: { input_tokens: 9, output_tokens: 1 } } }),
      event('content_block_delta', { delta: { text: 'a' } }),
      event('message_delta', {
        delta: { stop_reason: 'end_turn' },
        usage: { input_tokens: 12, cache_read_input_tokens: 100, output_tokens: 6 },
      }),
      event('message_stop', {}),
    )
    const { columns } = await send(origin, { endpoint: 'messages', stream: true })
    expect(tokensOf(columns)).toEqual({ promptTokens: 112, cachedTokens: 100, completionTokens: 6 })
  })

  test('that says 0 beside text is not reported, and without text it is', async () => {
    const zero = { usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } }
    expect(await streamed([zero])).toEqual({})
    expect(await streamed([zero], '')).toEqual({
      promptTokens: 0,
      completionTokens: 0,
      totalTokens: 0,
    })
  })
})

test('a plain body that says 0 beside text does not report its tokens', async () => {
  const usage = { prompt_tokens: 7, completion_tokens: 0, total_tokens: 7 }
  const { origin } = await answer(200, JSON.stringify({ ...bodies.chat, usage }))
  const { columns } = await send(origin)
  expect(tokensOf(columns)).toEqual({ promptTokens: 7, totalTokens: 7 })
})

test.each([
  [0, false],
  [1, false],
  [2, true],
  [3, true],
])(
  'usage with %i passes says so if they are several, and keeps the counts of the whole',
  async (passes, isFlagged) => {
    const iterations = Array.from({ length: passes }, () => ({
      type: 'message',
      input_tokens: 500,
    }))
    const usage = { input_tokens: 9, output_tokens: 4, iterations }
    const plain = await answer(200, JSON.stringify({ ...bodies.messages, usage }))
    const streamed = await stream(
      event('message_start', { message: { usage: { input_tokens: 9, output_tokens: 1 } } }),
      event('content_block_delta', { delta: { text: 'a' } }),
      event('message_delta', { delta: { stop_reason: 'end_turn' }, usage }),
      event('message_stop', {}),
    )
    for (const [origin, isStream] of [
      [plain.origin, false],
      // The shape of the document is known the second time.
      [plain.origin, false],
      [streamed.origin, true],
      [streamed.origin, true],
    ] as const) {
      const { columns } = await send(origin, { endpoint: 'messages', stream: isStream })
      expect((Number(columns.flags) & flags.severalPasses) !== 0).toBe(isFlagged)
      expect(tokensOf(columns)).toEqual({ promptTokens: 9, completionTokens: 4 })
    }
  },
)
