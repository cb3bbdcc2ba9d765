import { expect, test } from 'vitest'
import type { ModelPrice } from '../../src/contract/prices.ts'
import { decimalText } from '../../src/money/rational.ts'
import { expectedCosts } from '../../src/price/judge/expected.ts'
import type { PricedRequest } from '../../src/price/judge/request.ts'
import { readUsage, readWholeUsage } from '../../src/tokens/read-usage.ts'
import type { Usage } from '../../src/tokens/usage.ts'
import { modelOf, request } from './made-requests.ts'

/** The bounds of the cost of an answer whose client left after ten tokens. */
function boundsOf(model: ModelPrice, twin: Usage, change: Partial<PricedRequest> = {}) {
  const left = request({
    ...{ outcomes: ['abort'], isStream: true, receivedEvents: 10, maxOutputTokens: 500 },
    ...change,
  })
  const { between, open } = expectedCosts(left, {
    currency: { name: 'USD', digits: 12 },
    priceOf: () => model,
    choices: {},
    clockErrorMs: 0,
    twinOf: () => twin,
  })
  return between === null ? open : between.map(decimalText)
}

const twin = readUsage(
  {
    input_tokens: 1000,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
    output_tokens: 40,
  },
  'anthropic',
)

test('charged in full, an answer that was left costs what arrived at least, and what it was allowed at most', () => {
  const model = modelOf({ price: { input: 1, output: 10 }, charged: { abort: 'full' } })
  expect(boundsOf(model, twin)).toEqual(['0.0011', '0.006'])
})

test('the prompt of an answer that was left may be written to a cache, or read from one', () => {
  const price = { input: 10, cache_read: 1, cache_write: 12.5, output: 10 }
  const model = modelOf({ price, charged: { abort: 'input' } })
  expect(boundsOf(model, twin)).toEqual(['0.001', '0.0125'])
})

test('the prompt that an answer reports itself is as it reports it', () => {
  const price = { input: 10, cache_read: 1, cache_write: 12.5, output: 10 }
  const model = modelOf({ price, charged: { abort: 'input' } })
  const usage = readUsage(
    { input_tokens: 100, cache_read_input_tokens: 900, cache_creation_input_tokens: 0 },
    'anthropic',
  )
  expect(boundsOf(model, twin, { usage })).toEqual(['0.0019', '0.0019'])
})

test('an answer that was left, and may have searched, has no bounds', () => {
  const model = modelOf({
    price: { input: 1, output: 1, search: 0.01 },
    charged: { abort: 'received' },
  })
  expect(boundsOf(model, twin)).toEqual(['0.001', '0.001026'])
  expect(boundsOf(model, twin, { mayCall: true })).toEqual([
    'the calls of an answer that the client left',
  ])
})

test('an answer that was left never has more output than it was allowed, whether or not an equal request was answered', () => {
  const model = modelOf({ price: { input: 1, output: 10 }, charged: { abort: 'received' } })
  const long = { ...twin, parts: { ...twin.parts, output_visible: 4000 } }
  const allowed = { maxOutputTokens: 20 }
  expect(boundsOf(model, long, allowed)).toEqual(['0.001', '0.0012'])
  expect(boundsOf(model, long, { ...allowed, receivedBytes: 900 })).toEqual(['0.001', '0.0012'])
})

test('an answer that was left has no bounds where a part that it may have had has an open price', () => {
  const of = (cacheWrite: number | string) =>
    boundsOf(
      modelOf({
        price: { input: 1, cache_write: cacheWrite, output: 10 },
        charged: { abort: 'received' },
      }),
      twin,
    )
  expect(of('open')).toEqual(['the cost of an answer that the client left'])
  expect(of(2)).toEqual(['0.001', '0.00226'])
})

test('a price that is open at that moment alone leaves an answer that was left without bounds', () => {
  const of = (cacheWrite: number | string) =>
    boundsOf(
      modelOf({
        price: { input: 1, cache_write: 2, output: 10 },
        service: { flex: { price: { input: 1, cache_write: cacheWrite, output: 10 } } },
        charged: { abort: 'received' },
      }),
      twin,
      { serviceTier: 'flex' },
    )
  expect(of('open')).toEqual(['the cost of an answer that the client left'])
  expect(of(2)).toEqual(['0.001', '0.00226'])
})

test('an answer that was left has no bounds where no output has a price', () => {
  const model = modelOf({ price: { input: 1 }, charged: { abort: 'received' } })
  expect(boundsOf(model, twin)).toEqual(['the cost of an answer that the client left'])
})

test('an answer that was left has no bounds where an equal request was answered in several passes', () => {
  const model = modelOf({ price: { input: 1, output: 10 }, charged: { abort: 'full' } })
  const iterations = [
    { type: 'compaction', input_tokens: 4000, output_tokens: 300 },
    { type: 'message', input_tokens: 1000, output_tokens: 40 },
  ]
  const ofPasses = readWholeUsage(
    { input_tokens: 1000, output_tokens: 40, iterations },
    'anthropic',
  )
  expect(boundsOf(model, ofPasses)).toEqual(['the tokens of an answer that the client left'])
})

test('an answer that was left, and may have had sound, has no bounds', () => {
  const model = modelOf({
    price: { input: 1, output: 10, output_audio: 80 },
    charged: { abort: 'received' },
  })
  const spoken = { ...twin, parts: { ...twin.parts, output_audio: 30 } }
  expect(boundsOf(model, spoken)).toEqual(['the tokens of an answer that the client left'])
})
