import { expect, test } from 'vitest'
import type { Verdict } from '../../../src/audit/verdict.ts'
import { audited, contractOf, row, type Sent } from './paid.ts'

/**
 * Paid requests of every endpoint, each as an honest and as a faulty service: the honest one never fails, the faulty one is told, and
 * where the answer does not show what its price is for, the reason is named.
 */

type Found = Readonly<Record<string, Verdict>>
const failed = (found: Found) =>
  Object.entries(found)
    .filter(([, { verdict }]) => verdict === 'fail')
    .map(([rule]) => rule)

const contract = (price: object, more: object = {}) =>
  contractOf({ models: [{ id: 'big', price, ...more }] })

const endpoints: Readonly<Record<string, string>> = {
  ...{ '/v1/chat/completions': 'chat', '/v1/responses': 'responses' },
  '/v1/embeddings': 'embeddings',
}
const sent = (path: string, body: object, answer: object | string): Sent => ({
  ...{ path, endpoint: endpoints[path] ?? 'other' },
  body: JSON.stringify({ model: 'big', ...body }),
  answer: typeof answer === 'string' ? answer : JSON.stringify(answer),
})

interface Kind {
  readonly name: string
  readonly price: object
  readonly model?: object
  readonly send: Sent
  /** What an honest service takes. */
  readonly cost: number
  /** What the finding says where the cost does not follow. */
  readonly open?: string
}

const chatUsage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 }
const responsesUsage = { input_tokens: 1000, output_tokens: 100, total_tokens: 1100 }
const tokens = { input: 4, output: 20 }
const ask = { messages: [{ role: 'user', content: 'Hello' }] }
/** An answer of the Responses API that shows a search. */
const searched = sent(
  '/v1/responses',
  { ...ask, tools: [{ type: 'web_search' }] },
  {
    output: [{ type: 'web_search_call', action: { type: 'search' } }, { type: 'message' }],
    usage: responsesUsage,
  },
)

const kinds: readonly Kind[] = [
  {
    name: 'embeddings that count a total alone, as Voyage does',
    price: { input: 4 },
    send: sent('/v1/embeddings', { input: 'a' }, { data: [], usage: { total_tokens: 500 } }),
    cost: 0.002,
  },
  {
    name: 'a ranking that counts a total alone, as Jina does',
    price: { input: 4 },
    send: sent('/v1/rerank', { query: 'a' }, { results: [], usage: { total_tokens: 500 } }),
    cost: 0.002,
  },
  {
    name: 'a ranking by search units, as Cohere counts',
    price: { search: 0.002 },
    send: sent('/v1/rerank', { query: 'a' }, { meta: { billed_units: { search_units: 3 } } }),
    cost: 0.006,
  },
  {
    name: 'moderation by the request, without a usage',
    price: { request: 0.003 },
    send: sent('/v1/moderations', { input: 'a' }, { results: [{ flagged: false }] }),
    cost: 0.003,
  },
  {
    name: 'images by the image, without a usage',
    price: { image: 0.04 },
    send: sent(
      '/v1/images/generations',
      { prompt: 'a' },
      {
        data: [{ url: 'https://a/1' }, { b64_json: 'AA' }],
      },
    ),
    cost: 0.08,
  },
  {
    name: 'speech by the character, without a usage',
    price: { character: { price: 15, per: 1000 } },
    send: sent('/v1/audio/speech', { input: 'Hello there' }, '{}'),
    cost: 0.165,
  },
  {
    name: 'transcription by tokens of audio',
    price: { input: 2, input_audio: 6, output: 10 },
    send: sent(
      '/v1/audio/transcriptions',
      {},
      {
        text: 'Hello',
        usage: {
          ...{ type: 'tokens', input_tokens: 114, output_tokens: 50, total_tokens: 164 },
          input_token_details: { text_tokens: 14, audio_tokens: 100 },
        },
      },
    ),
    cost: 0.001128,
  },
  {
    name: "Gemini's stream as a list",
    price: tokens,
    send: sent('/v1beta/models/big:streamGenerateContent', ask, [
      { usageMetadata: { promptTokenCount: 1000, totalTokenCount: 1000 } },
      {
        usageMetadata: {
          ...{ promptTokenCount: 1000, candidatesTokenCount: 100, totalTokenCount: 1100 },
        },
      },
    ] as object),
    cost: 0.006,
  },
  {
    name: 'a stream of lines',
    price: tokens,
    send: sent(
      '/v1/chat/completions',
      ask,
      `{"id":"a","choices":[]}\n${JSON.stringify({ id: 'a', usage: chatUsage })}\n`,
    ),
    cost: 0.006,
  },
  {
    name: 'a tier that Gemini names in the usage',
    price: tokens,
    model: { service: { priority: { times: 2 } } },
    send: sent('/v1beta/models/big:generateContent', ask, {
      usageMetadata: {
        ...{ promptTokenCount: 1000, candidatesTokenCount: 100 },
        serviceTier: 'priority',
      },
    }),
    cost: 0.012,
  },
  {
    name: 'a tier that a header names',
    price: tokens,
    model: { service: { flex: { times: 0.5 } } },
    send: {
      ...sent('/v1/chat/completions', { ...ask, service_tier: 'priority' }, { usage: chatUsage }),
      headers: 'X-Gemini-Service-Tier: flex',
    },
    cost: 0.003,
  },
  {
    name: 'a tier of Bedrock',
    price: tokens,
    model: { service: { flex: { times: 0.5 } } },
    send: sent('/model/big/converse', ask, {
      usage: { inputTokens: 1000, outputTokens: 100, totalTokens: 1100 },
      serviceTier: { type: 'flex' },
    }),
    cost: 0.003,
  },
  {
    name: 'a tier of Bedrock without a promise',
    price: tokens,
    send: sent('/model/big/converse', ask, {
      usage: { inputTokens: 1000, outputTokens: 100, totalTokens: 1100 },
      serviceTier: { type: 'priority' },
    }),
    ...{ cost: 0.0105, open: 'service tier priority' },
  },
  {
    name: 'an answer of low latency, as Bedrock names it',
    price: tokens,
    send: sent('/model/big/converse', ask, {
      usage: { inputTokens: 1000, outputTokens: 100, totalTokens: 1100 },
      performanceConfig: { latency: 'optimized' },
    }),
    ...{ cost: 0.0075, open: 'performanceConfig.latency optimized' },
  },
  {
    name: 'an answer of low latency that the contract prices',
    price: tokens,
    model: { by: { 'performanceConfig.latency': { optimized: { times: 1.25 } } } },
    send: sent('/model/big/converse', ask, {
      usage: { inputTokens: 1000, outputTokens: 100, totalTokens: 1100 },
      performanceConfig: { latency: 'optimized' },
    }),
    cost: 0.0075,
  },
  {
    name: 'searches that a response shows and its usage does not count',
    price: { ...tokens, search: 0.01 },
    send: searched,
    ...{ cost: 0.016, open: 'the count of search' },
  },
  {
    name: 'searches that a response shows and no contract prices',
    price: tokens,
    send: searched,
    ...{ cost: 0.016, open: 'a price of search' },
  },
  {
    name: 'functions of the client, which cost nothing',
    price: { ...tokens, search: 0.01 },
    send: sent(
      '/v1/responses',
      { ...ask, tools: [{ type: 'function' }] },
      {
        output: [{ type: 'function_call', name: 'f' }],
        usage: responsesUsage,
      },
    ),
    cost: 0.006,
  },
  {
    name: 'sources of a search beside a usage that counts none',
    price: { ...tokens, search: 0.03 },
    send: sent(
      '/v1/chat/completions',
      { ...ask, web_search_options: {} },
      {
        choices: [{ message: { annotations: [{ type: 'url_citation' }] } }],
        usage: chatUsage,
      },
    ),
    ...{ cost: 0.036, open: 'the count of search' },
  },
  {
    name: "queries of Gemini's search",
    price: tokens,
    send: sent('/v1beta/models/big:generateContent', ask, {
      candidates: [{ groundingMetadata: { webSearchQueries: ['a', 'b'] } }],
      usageMetadata: { promptTokenCount: 1000, candidatesTokenCount: 100 },
    }),
    ...{ cost: 0.041, open: 'a price of search' },
  },
  {
    name: 'an image in the request that has a price, and is not counted',
    price: { ...tokens, image: 0.001 },
    send: sent(
      '/v1/chat/completions',
      {
        messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:' } }] }],
      },
      { usage: chatUsage },
    ),
    ...{ cost: 0.007, open: 'the count of image' },
  },
]

test.each(kinds.map((kind) => [kind.name, kind] as const))(
  '%s: an honest service is never accused, and a wrong cost is told or has a reason',
  { tags: 'whole' },
  async (_, { price, model, send, cost, open }) => {
    const of = contract(price, model)
    const stated = (amount: number) =>
      audited(
        [send, { ...send, body: send.body!.replace('{', '{"user":"b",') }],
        [...['0', (2 * amount).toFixed(12)]] as [string, string],
        { contract: of },
      )
    const honest = await stated(cost)
    expect(failed(honest)).toEqual([])
    const faulty = await stated(3 * cost)
    if (open === undefined) {
      expect(honest['PRICE-06']!.verdict).toBe('pass')
      expect(faulty['PRICE-06']!.verdict).toBe('fail')
    } else {
      for (const found of [honest, faulty])
        expect(found['PRICE-06']).toMatchObject({
          verdict: 'inconclusive',
          why: expect.stringContaining(open),
        })
    }
  },
)

const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`
const chunks = (id: string, input: number, output: number) =>
  [
    event({ id, model: 'big', choices: [{ delta: { content: 'x' } }] }),
    event({ id, model: 'big', choices: [{ delta: {}, finish_reason: 'stop' }] }),
    event({
      id,
      ...{ model: 'big', choices: [] },
      usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
    }),
  ].join('')
const message = (id: string, input: number, output: number) =>
  [
    event({
      type: 'message_start',
      message: { id, usage: { input_tokens: input, output_tokens: 1 } },
    }),
    event({ type: 'message_delta', usage: { output_tokens: output } }),
    event({ type: 'message_stop' }),
  ].join('')
const response = (id: string, input: number, output: number) =>
  [
    event({ type: 'response.created', response: { id } }),
    event({
      type: 'response.completed',
      response: {
        id,
        usage: { input_tokens: input, output_tokens: output, total_tokens: input + output },
      },
    }),
  ].join('')

test.each([
  ['chat', '/v1/chat/completions', chunks],
  ['messages', '/v1/messages', message],
  ['responses', '/v1/responses', response],
] as const)(
  'several answers in one stream of %s cost their sum, with one row of the log or a row for each',
  { tags: 'whole' },
  async (endpoint, path, answer) => {
    const stream: Sent = {
      ...{ path, endpoint, id: 'a', body: '{"model":"big","stream":true}' },
      answer: `${answer('a', 1000, 100)}${answer('b', 1500, 50)}data: [DONE]\n\n`,
    }
    // 2,500 tokens of input at 4, and 150 of output at 20.
    const cost = 0.013
    const one = [row('a', cost, 1, 2500, 150)]
    const each = [row('a', 0.006, 1, 1000, 100), row('a', 0.007, 1, 1500, 50)]
    for (const log of [one, each]) {
      expect(failed(await audited([stream], ['0', `${cost}`], { log }))).toEqual([])
      const found = await audited([stream], ['0', '0.007'], { log: [row('a', 0.007, 1, 1500, 50)] })
      expect(failed(found)).toContain('PRICE-06')
    }
  },
)

test('one answer whose chunks have ids of their own, or whose usage is said again, is no second answer', async () => {
  const usage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 }
  const others = [
    event({ id: 'a', choices: [{ delta: { content: 'x' } }] }),
    event({ id: 'b', choices: [{ delta: {}, finish_reason: 'stop' }] }),
    event({ id: 'c', choices: [], usage }),
  ]
  const again = [
    event({ id: 'a', choices: [{ delta: {}, finish_reason: 'stop' }], usage }),
    event({ id: 'a', choices: [], usage }),
  ]
  for (const events of [others, again]) {
    const stream: Sent = {
      ...{ id: 'a', body: '{"model":"big","stream":true}' },
      answer: `${events.join('')}data: [DONE]\n\n`,
    }
    const found = await audited([stream], ['0', '0.006'])
    expect(found['PRICE-06']!.verdict).toBe('pass')
  }
})

test('writes that the log counts as all, or by their life, are those of the answer', {
  tags: 'whole',
}, async () => {
  const answer: Sent = {
    ...{ id: 'a', endpoint: 'messages', path: '/v1/messages' },
    answer: JSON.stringify({
      id: 'a',
      usage: {
        ...{ input_tokens: 10, output_tokens: 5, cache_creation_input_tokens: 150 },
        cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 50 },
      },
    }),
  }
  const log = { cost: 'spend', id: 'request_id', model: 'model', at: 'startTime' }
  const of = contractOf({
    evidence: { log: { ...log, tokens: { cache_write: 'some', cache_write_1h: 'hour' } } },
  })
  const found = async (some: number, hour: number) => {
    const logged = [{ ...row('a', 0.00074, 1, 160, 5), some, hour }]
    return (await audited([answer], null, { contract: of, log: logged }))['PRICE-05']!
  }
  expect(await found(150, 50)).toMatchObject({ verdict: 'pass' })
  expect(await found(100, 50)).toMatchObject({ verdict: 'pass' })
  expect(await found(50, 50)).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining('50 cache write tokens in the log, 150 in the answer'),
  })
  expect(await found(150, 150)).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining(
      '150 one-hour cache write tokens in the log, 50 in the answer',
    ),
  })
})

test('a row that names another currency is converted by the contract, or is no cost of its own', {
  tags: 'whole',
}, async () => {
  const answer: Sent = { id: 'a', answer: JSON.stringify({ id: 'a', usage: chatUsage }) }
  const found = async (rate: object, spend: number, currency = 'EUR') => {
    const logged = [{ ...row('a', spend, 1, 1000, 100), currency }]
    return (await audited([answer], null, { contract: contractOf(rate), log: logged }))['PRICE-04']!
  }
  expect(await found({ is: { EUR: '1.25' } }, 0.0048)).toMatchObject({ verdict: 'pass' })
  expect(await found({ is: { EUR: '1.25' } }, 0.006)).toMatchObject({ verdict: 'fail' })
  expect(await found({}, 0.006, 'usd')).toMatchObject({ verdict: 'pass' })
  expect(await found({}, 0.0048)).toMatchObject({
    verdict: 'inconclusive',
    why: expect.stringContaining('0.0048 EUR'),
  })
})
