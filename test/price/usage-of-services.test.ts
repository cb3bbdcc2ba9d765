import { expect, test } from 'vitest'
import { decimalText } from '../../src/money/rational.ts'
import { calculate } from '../../src/price/calculate.ts'
import { dialectOf, readWholeUsage } from '../../src/tokens/read-usage.ts'
import { modelOf } from './made-requests.ts'

/** What usages of services count beside the usual: each is priced, or makes the cost unknown by its name. Nothing is left out. */

const price = { input: 4, output: 20 }
const counts = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 }
const plain = '0.006'

function costOf(usage: object, fields: object = {}, endpoint?: string): string {
  const model = modelOf({ price, ...fields })
  const { cost, open, unknown } = calculate(
    model,
    readWholeUsage(usage, model.dialect ?? dialectOf(usage, endpoint)),
    { atMs: 0, serviceTier: null, choices: {}, outcome: 'success', counts: {} },
  )
  return cost === null ? [...open, ...unknown].join(', ') : decimalText(cost)
}
const flagsOf = (usage: object) => readWholeUsage(usage, dialectOf(usage)).flags

test.each([
  ['citation_tokens', { ...counts, citation_tokens: 30 }, { usage: 'openai-chat' }],
  ['audio_seconds', { ...counts, citation_tokens: 0, audio_seconds: 4 }, {}],
  ['images', { ...counts, images: 2 }, {}],
  ['video_tokens', { ...counts, video_tokens: 40 }, {}],
  ['characters', { ...counts, characters: 40 }, {}],
  ['toolUseTokens', { promptTokenCount: 10, candidatesTokenCount: 5, toolUseTokens: 3 }, {}],
  [
    'billed_units.audio_tokens',
    { billed_units: { input_tokens: 10, output_tokens: 5, audio_tokens: 7 } },
    {},
  ],
  [
    'cache_creation.ephemeral_24h_input_tokens',
    {
      ...{ input_tokens: 10, output_tokens: 5, cache_creation_input_tokens: 100 },
      cache_creation: {
        ...{ ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
        ephemeral_24h_input_tokens: 100,
      },
    },
    {},
  ],
])(
  'usage.%s, which no dialect reads, makes the cost unknown by its name',
  (name, usage, fields) => {
    expect(costOf(usage, fields)).toContain(`usage.${name}`)
    // A price of each request is one of all that it counts.
    expect(costOf(usage, { ...fields, price: { request: 0.5 } })).toBe('0.5')
  },
)

test.each([
  ['a sum that is named twice', { ...counts, input_tokens: 1000, output_tokens: 100 }],
  ['a share of the prompt', { ...counts, prompt_tokens_details: { video_tokens: 30 } }],
  ['predictions', { ...counts, completion_tokens_details: { accepted_prediction_tokens: 9 } }],
  [
    'times and speeds',
    { ...counts, total_time: 0.5, completion_tokens_per_sec: 90, queue_time: 1 },
  ],
  ['the mark of an end', { ...counts, is_last_response: true }],
  [
    'tokens that Cohere does not bill',
    {
      billed_units: { input_tokens: 1000, output_tokens: 100 },
      tokens: { input_tokens: 1900, output_tokens: 190 },
      cached_tokens: 64,
    },
  ],
  ['counts of 0', { ...counts, citation_tokens: 0, num_search_queries: 0, images: 0 }],
])('%s changes no cost', (_, usage) => {
  expect(costOf(usage)).toBe(plain)
})

test('searches that OpenRouter counts in the details of its tools have their price', () => {
  const usage = { ...counts, server_tool_use_details: { web_search_requests: 2 } }
  expect(costOf(usage)).toBe('a price of search')
  expect(costOf(usage, { price: { ...price, search: 0.01 } })).toBe('0.026')
})

test('connectors of Mistral have prices, and their tokens make the cost unknown, but nobody is accused', () => {
  const usage = {
    ...{ prompt_tokens: 188, completion_tokens: 55, total_tokens: 7355, connector_tokens: 7112 },
    connectors: { web_search: 1, code_interpreter: 2 },
  }
  expect(flagsOf(usage)).toEqual([])
  expect(costOf(usage)).toContain('usage.connector_tokens')
  const { connector_tokens: _, ...alone } = { ...usage, total_tokens: 243 }
  expect(costOf(alone)).toBe('a price of tool.code_interpreter, a price of search')
  const priced = { price: { ...price, search: 0.01, 'tool.code_interpreter': 0.03 } }
  expect(costOf(alone, priced)).toBe('0.071852')
  // A total that contains nothing else is still wrong.
  expect(flagsOf({ ...usage, total_tokens: 7000 })).toEqual(['total'])
})

test('writes of a life that nobody knows are no contradiction', () => {
  const usage = {
    ...{ input_tokens: 10, output_tokens: 5, cache_creation_input_tokens: 100 },
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  }
  expect(flagsOf(usage)).toEqual(['write-split'])
  const named = { ...usage.cache_creation, ephemeral_24h_input_tokens: 100 }
  expect(flagsOf({ ...usage, cache_creation: named })).toEqual([])
})

test('classifications of Cohere are calls', () => {
  const usage = { billed_units: { classifications: 3 } }
  expect(costOf(usage, { price: { 'tool.classification': 0.002 } })).toBe('0.006')
  expect(costOf(usage)).toContain('a price of tool.classification')
})

test('passes beside counts that nobody reads have no known cost', () => {
  const usage = {
    ...{ input_tokens: 10, output_tokens: 5, audio_seconds: 9 },
    iterations: [
      { type: 'message', input_tokens: 10, output_tokens: 5 },
      { type: 'compaction', input_tokens: 100, output_tokens: 50 },
    ],
  }
  expect(costOf(usage)).toContain('usage.audio_seconds')
})
