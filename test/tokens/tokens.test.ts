import fc from 'fast-check'
import { expect, test } from 'vitest'
import { answerDialects } from '../../src/tokens/answer-dialects.ts'
import type { dialects } from '../../src/tokens/dialects.ts'
import { kindCounts } from '../../src/tokens/kinds.ts'
import type { logDialects } from '../../src/tokens/log-dialects.ts'
import { dialectOf, readUsage, readWholeUsage } from '../../src/tokens/read-usage.ts'
import { normalUsage, outputOf, parts, promptOf, unknownUsage } from '../../src/tokens/usage.ts'
import { furtherVectors, priceVectors } from '../contract/price-vectors/vectors.ts'

test('all price vectors have the parts that they must, and their flags', () => {
  expect(priceVectors).toHaveLength(81)
  for (const { id, usage, model, normal, flags } of [...priceVectors, ...furtherVectors]) {
    if (normal === undefined) continue
    const read = readUsage(usage, model.usage)
    const counted = Object.fromEntries(
      Object.entries(read.parts).filter(([, count]) => count !== null && count > 0),
    )
    expect({ id, counted, flags: read.flags }).toEqual({ id, counted: normal, flags: flags ?? [] })
  }
})

test('the vectors use every dialect of answers but the one that new-api names itself', () => {
  const used = new Set(priceVectors.map(({ model }) => model.usage))
  expect(Object.keys(answerDialects).filter((name) => !used.has(name as 'groq'))).toEqual([
    'new-api-anthropic',
  ])
})

test('what is not reported is unknown, and counted in its parent', () => {
  const { parts: plain } = readUsage({ prompt_tokens: 11, completion_tokens: 7 }, 'openai-chat')
  expect(plain).toMatchObject({ input_uncached: 11, cache_read: null, reasoning: null })
  expect(kindCounts(plain)).toMatchObject({
    input: 11,
    cached: null,
    cacheWrite: null,
    output: 7,
    reasoning: null,
  })
  const { parts: zero } = readUsage(
    { prompt_tokens: 11, prompt_tokens_details: { cached_tokens: 0 }, completion_tokens: null },
    'openai-chat',
  )
  expect(zero).toMatchObject({ input_uncached: 11, cache_read: 0, output_visible: null })
  expect(outputOf(zero)).toBeNull()
  for (const nothing of [undefined, null, 'x', [], {}])
    expect(readUsage(nothing, 'anthropic').parts).toEqual(unknownUsage.parts)
  expect(promptOf(unknownUsage.parts)).toBeNull()
})

test('faults of a usage are flagged', () => {
  const flags = (usage: object, dialect: keyof typeof dialects = 'openai-chat') =>
    readUsage(usage, dialect).flags
  const plain = { prompt_tokens: 10, completion_tokens: 5 }
  expect(flags({ ...plain, total_tokens: 15 })).toEqual([])
  expect(flags({ ...plain, total_tokens: 16 })).toEqual(['total'])
  expect(flags({ ...plain, prompt_tokens: -1 })).toEqual(['not-a-count'])
  expect(flags({ ...plain, completion_tokens: 1.5 })).toEqual(['not-a-count'])
  expect(flags({ ...plain, completion_tokens_details: { reasoning_tokens: 6 } })).toEqual([
    'parts>output',
  ])
  expect(
    flags({ ...plain, prompt_cache_hit_tokens: 8, prompt_cache_miss_tokens: 3 }, 'deepseek'),
  ).toEqual(['hit+miss'])
  expect(
    flags(
      {
        input_tokens: 1,
        output_tokens: 1,
        cache_creation_input_tokens: 9,
        cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 5 },
      },
      'anthropic',
    ),
  ).toEqual(['write-split'])
})

test('a total says whether it counts reasoning once more', () => {
  const usage = (total: number) =>
    readUsage(
      {
        prompt_tokens: 10,
        completion_tokens: 8,
        total_tokens: total,
        completion_tokens_details: { reasoning_tokens: 3 },
      },
      'openai-chat',
    )
  expect([usage(18).totalIs, usage(21).totalIs, usage(20).totalIs]).toEqual([
    'input+output',
    'input+output+reasoning',
    null,
  ])
})

test.each([
  ['inside the completion', 110, 5, 65],
  ['beside the completion', 170, 65, 125],
])('without a contract, a total says that reasoning is %s', (_, total, visible, output) => {
  const usage = {
    ...{ prompt_tokens: 45, completion_tokens: 65, total_tokens: total },
    prompt_tokens_details: { cached_tokens: 5, cache_creation_input_tokens: 10 },
    completion_tokens_details: { reasoning_tokens: 60, image_tokens: 0 },
  }
  const { parts, flags } = readUsage(usage, dialectOf(usage, 'chat'))
  expect([parts.input_uncached, parts.cache_read, parts.cache_write]).toEqual([30, 5, 10])
  expect([parts.output_visible, parts.reasoning, flags]).toEqual([visible, 60, []])
  expect(outputOf(parts)).toBe(output)
})

test('calls that a usage counts are read', () => {
  expect(
    readUsage(
      { input_tokens: 1, output_tokens: 1, server_tool_use: { web_search_requests: 2 } },
      'anthropic',
    ).calls,
  ).toEqual({ search: 2 })
  expect(readUsage({ prompt_tokens: 1, num_search_queries: 18 }, 'perplexity').calls).toEqual({
    search: 18,
  })
})

test('calls that no dialect knows are read by their own names', () => {
  const tools = { web_search_requests: 2, code_execution_requests: 3, tool_search_requests: 0 }
  expect(
    readWholeUsage({ input_tokens: 1, output_tokens: 1, server_tool_use: tools }, 'anthropic')
      .calls,
  ).toEqual({ search: 2, 'tool.code_execution': 3, 'tool.tool_search': 0 })
  const details = { web_search: { invocation: 1 }, image_edit: { invocation: 4 } }
  expect(
    readWholeUsage({ input_tokens: 1, tool_calls_details: details }, 'openai-responses').calls,
  ).toEqual({ search: 1, 'tool.image_edit': 4 })
})

/** Usages as the services' own libraries and references show them, and their parts that are not 0. */
const published: readonly {
  readonly from: string
  readonly dialect: keyof typeof answerDialects
  readonly usage: Readonly<Record<string, unknown>>
  readonly parts: Readonly<Record<string, number>>
  readonly calls?: Readonly<Record<string, number>>
}[] = [
  {
    from: 'Mistral: cached tokens at the top level',
    dialect: 'mistral',
    usage: {
      ...{ prompt_tokens: 1200, completion_tokens: 80, total_tokens: 1280 },
      num_cached_tokens: 1024,
    },
    parts: { input_uncached: 176, cache_read: 1024, output_visible: 80 },
  },
  {
    from: 'Mistral: details in the singular',
    dialect: 'mistral',
    usage: {
      ...{ prompt_tokens: 1200, completion_tokens: 80, total_tokens: 1280 },
      prompt_token_details: { cached_tokens: 64 },
    },
    parts: { input_uncached: 1136, cache_read: 64, output_visible: 80 },
  },
  {
    from: 'Mistral: speech',
    dialect: 'mistral',
    usage: {
      ...{ prompt_audio_seconds: 13, prompt_tokens: 8, completion_tokens: 4, total_tokens: 12 },
    },
    parts: { input_uncached: 8, output_visible: 4 },
    calls: { second: 13 },
  },
  {
    from: 'OpenAI realtime: cached images and audio',
    dialect: 'openai-responses',
    usage: {
      ...{ input_tokens: 1000, output_tokens: 300, total_tokens: 1300 },
      input_token_details: {
        ...{ text_tokens: 100, audio_tokens: 300, image_tokens: 600, cached_tokens: 550 },
        cached_tokens_details: { text_tokens: 50, audio_tokens: 100, image_tokens: 400 },
      },
      output_token_details: { text_tokens: 60, audio_tokens: 240 },
    },
    parts: {
      ...{ input_uncached: 50, input_audio: 200, input_image: 200 },
      ...{ cache_read: 450, cache_read_audio: 100 },
      ...{ output_visible: 60, output_audio: 240 },
    },
  },
  {
    from: 'Gemini: a cached image',
    dialect: 'gemini',
    usage: {
      ...{ promptTokenCount: 1000, candidatesTokenCount: 50, totalTokenCount: 1050 },
      ...{
        cachedContentTokenCount: 500,
        cacheTokensDetails: [{ modality: 'IMAGE', tokenCount: 500 }],
      },
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 400 },
        { modality: 'IMAGE', tokenCount: 600 },
      ],
    },
    parts: { input_uncached: 400, input_image: 100, cache_read: 500, output_visible: 50 },
  },
  {
    from: 'Gemini: Interactions',
    dialect: 'gemini',
    usage: {
      ...{ total_input_tokens: 9, total_output_tokens: 779, total_thought_tokens: 912 },
      total_tokens: 1700,
    },
    parts: { input_uncached: 9, output_visible: 779, reasoning: 912 },
  },
  {
    from: 'Gemini: Interactions with audio',
    dialect: 'gemini',
    usage: {
      ...{ total_input_tokens: 900, total_output_tokens: 10, total_tokens: 930 },
      total_tool_use_tokens: 20,
      input_tokens_by_modality: [
        { modality: 'text', tokens: 400 },
        { modality: 'audio', tokens: 500 },
      ],
    },
    parts: { input_uncached: 420, input_audio: 500, output_visible: 10 },
  },
  {
    from: 'xAI: the prompt without its cached tokens',
    dialect: 'xai-chat',
    usage: {
      ...{ prompt_tokens: 4142, completion_tokens: 254, total_tokens: 8724 },
      prompt_tokens_details: { text_tokens: 4142, cached_tokens: 4328 },
      completion_tokens_details: { reasoning_tokens: 0 },
    },
    parts: { input_uncached: 4142, cache_read: 4328, output_visible: 254 },
  },
  {
    from: 'xAI: only the total shows that the prompt has no cached tokens',
    dialect: 'xai-chat',
    usage: {
      ...{ prompt_tokens: 500, completion_tokens: 20, total_tokens: 640 },
      prompt_tokens_details: { cached_tokens: 100 },
      completion_tokens_details: { reasoning_tokens: 20 },
    },
    parts: { input_uncached: 500, cache_read: 100, output_visible: 20, reasoning: 20 },
  },
  {
    from: 'xAI: the prompt with its cached tokens, reasoning beside the completion',
    dialect: 'xai-chat',
    usage: {
      ...{ prompt_tokens: 2640, completion_tokens: 182, total_tokens: 3494 },
      prompt_tokens_details: {
        text_tokens: 2640,
        audio_tokens: 0,
        image_tokens: 0,
        cached_tokens: 473,
      },
      completion_tokens_details: { reasoning_tokens: 672 },
      num_sources_used: 0,
    },
    parts: { input_uncached: 2167, cache_read: 473, output_visible: 182, reasoning: 672 },
    calls: { search: 0 },
  },
  {
    from: 'xAI: responses with tools',
    dialect: 'xai-chat',
    usage: {
      ...{ input_tokens: 57743, output_tokens: 4373, total_tokens: 62116 },
      output_tokens_details: { reasoning_tokens: 3041 },
      ...{ num_sources_used: 0, num_server_side_tools_used: 4, cost_in_usd_ticks: 1575680000 },
      server_side_tool_usage_details: {
        web_search_calls: 2,
        x_search_calls: 1,
        file_search_calls: 1,
      },
    },
    parts: { input_uncached: 57743, output_visible: 1332, reasoning: 3041 },
    calls: { search: 2, 'tool.x_search': 1, 'tool.file_search': 1 },
  },
  {
    from: 'Alibaba: an explicit cache',
    dialect: 'openai-chat',
    usage: {
      ...{ prompt_tokens: 1500, completion_tokens: 100, total_tokens: 1600 },
      prompt_tokens_details: {
        ...{ cached_tokens: 0, cache_creation_input_tokens: 1400, cache_type: 'ephemeral' },
        cache_creation: { ephemeral_5m_input_tokens: 1400 },
      },
    },
    parts: { input_uncached: 100, cache_write: 1400, output_visible: 100 },
  },
  {
    from: 'Perplexity: an agent',
    dialect: 'openai-responses',
    usage: {
      ...{ input_tokens: 3000, output_tokens: 50, total_tokens: 3050 },
      input_tokens_details: { cache_creation_input_tokens: 1000, cache_read_input_tokens: 500 },
      tool_calls_details: { search_web: { invocation: 1 }, fetch_url: { invocation: 2 } },
    },
    parts: { input_uncached: 1500, cache_write: 1000, cache_read: 500, output_visible: 50 },
    calls: { search: 1, 'tool.fetch_url': 2 },
  },
  {
    from: 'Cohere: a rerank',
    dialect: 'cohere',
    usage: { meta: { billed_units: { search_units: 1 } } },
    parts: {},
    calls: { search: 1 },
  },
]

test.each(published)('a published usage is read: $from', ({ dialect, usage, parts, calls }) => {
  const read = readUsage(usage, dialect)
  const counted = Object.entries(read.parts).filter(([, count]) => count !== null && count > 0)
  expect({ parts: Object.fromEntries(counted), calls: read.calls, flags: read.flags }).toEqual({
    ...{ parts, calls: calls ?? {}, flags: [] },
  })
  // Without a contract, its fields show the dialect, or one that reads the same.
  if (dialect !== 'cohere' && dialect !== 'xai-chat')
    expect(readUsage(usage, dialectOf(usage, 'responses')).parts).toEqual(read.parts)
})

test('logs have the same five counts', () => {
  const counts = (row: object, dialect: keyof typeof logDialects) => {
    const { input, cached, cacheWrite, output, reasoning } = kindCounts(
      readUsage(row, dialect).parts,
    )
    return [input, cached, cacheWrite, output, reasoning]
  }
  expect(
    counts({ input_tokens: 5208, output_tokens: 1247, input_cached_tokens: 1056 }, 'openai-usage'),
  ).toEqual([5208, 1056, null, 1247, null])
  expect(
    counts(
      {
        uncached_input_tokens: 100,
        cache_read_input_tokens: 20,
        cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 4 },
        output_tokens: 9,
      },
      'anthropic-report',
    ),
  ).toEqual([127, 20, 7, 9, null])
  expect(
    counts(
      {
        prompt_tokens: 1399,
        completion_tokens: 1361,
        other: '{"cache_tokens": 5, "claude": true, "cache_creation_tokens": 653}',
      },
      'new-api-log',
    ),
  ).toEqual([2057, 5, 653, 1361, null])
  expect(
    counts(
      { prompt_tokens: 3766, completion_tokens: 286, other: { cache_tokens: 1325 } },
      'new-api-log',
    ),
  ).toEqual([3766, 1325, null, 286, null])
  expect(
    counts(
      {
        ...{ input: 3000, cacheRead: 2097, cacheWrite: 0 },
        ...{ output: 52, reasoning: 8 },
      },
      'langfuse',
    ),
  ).toEqual([5097, 2097, 0, 60, 8])
  expect(
    counts(
      {
        prompt_tokens: 843,
        prompt_cache_write_tokens: 140,
        prompt_cache_read_tokens: 0,
        completion_tokens: 1344,
        reasoning_tokens: 0,
      },
      'helicone',
    ),
  ).toEqual([983, 0, 140, 1344, 0])
  expect(
    counts(
      { 'gen_ai.usage.input_tokens': '40', 'gen_ai.usage.cache_read.input_tokens': '10' },
      'otel',
    ),
  ).toEqual([40, 10, null, null, null])
  expect(
    counts(
      {
        prompt_tokens: 20,
        completion_tokens: 5,
        metadata: {
          usage_object: {
            prompt_tokens_details: { cached_tokens: 7 },
            cache_creation_input_tokens: 2,
            completion_tokens_details: { reasoning_tokens: 1 },
          },
        },
      },
      'litellm-log',
    ),
  ).toEqual([20, 7, 2, 5, 1])
  expect(
    counts(
      {
        input: { inputTokenCount: 1117, cacheReadInputTokenCount: 321 },
        output: { outputTokenCount: 103 },
      },
      'bedrock-log',
    ),
  ).toEqual([1438, 321, null, 103, null])
})

test('a usage is recognised by its fields, then by its endpoint', () => {
  // Dialects with the same fields have the same reading.
  const same: Partial<Record<string, string>> = {
    openrouter: 'openai-chat',
    mistral: 'openai-chat',
    groq: 'openai-chat',
    moonshot: 'openai-chat',
    'new-api': 'openai-chat',
  }
  for (const { id, usage, model, normal } of priceVectors) {
    if (normal === undefined || ['xai-chat', 'perplexity'].includes(model.usage)) continue
    const endpoint = { anthropic: 'messages', 'openai-responses': 'responses' }[
      model.usage as string
    ]
    const found = dialectOf(usage, endpoint ?? 'chat')
    expect([id, readUsage(usage, found)]).toEqual([id, readUsage(usage, model.usage)])
    if (found !== model.usage) expect([id, found]).toEqual([id, same[model.usage] ?? model.usage])
  }
})

test('parts add up to what was stated, whatever is part of what', () => {
  const count = fc.option(fc.integer({ min: 0, max: 1000 }))
  const stated = fc.record({
    input: fc.integer({ min: 0, max: 3000 }),
    cacheRead: count,
    cacheWrite: count,
    cacheWrite1h: fc.option(fc.integer({ min: 0, max: 50 })),
    inputAudio: count,
    output: fc.integer({ min: 0, max: 1000 }),
    reasoning: count,
  })
  fc.assert(
    fc.property(stated, (counts) => {
      const inside = normalUsage(counts, { input: 'all', output: 'all' })
      const beside = normalUsage(counts, { input: 'uncached', output: 'visible' })
      for (const { parts: of } of [inside, beside])
        for (const part of parts) expect(of[part] ?? 0).toBeGreaterThanOrEqual(0)
      if (inside.flags.length === 0) {
        expect(promptOf(inside.parts)).toBe(counts.input)
        expect(outputOf(inside.parts)).toBe(counts.output)
      }
      if (beside.flags.length === 0)
        expect(outputOf(beside.parts)).toBe(counts.output + (counts.reasoning ?? 0))
    }),
  )
})
