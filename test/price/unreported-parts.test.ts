import { expect, test } from 'vitest'
import { currency } from '../../src/money/money.ts'
import { expectedCosts } from '../../src/price/judge/expected.ts'
import { readUsage } from '../../src/tokens/read-usage.ts'
import { modelOf, request } from './made-requests.ts'

const model = modelOf(
  { price: { input: 4, cache_write: 5, cache_write_1h: 8, output: 20 }, usage: 'openai-chat' },
  'USD',
)

function boundsOf(details: object) {
  const usage = readUsage(
    { prompt_tokens: 2000, completion_tokens: 0, prompt_tokens_details: details },
    'openai-chat',
  )
  const { between } = expectedCosts(request({ usage }), {
    currency: currency('USD'),
    priceOf: () => model,
    choices: {},
    clockErrorMs: 0,
    twinOf: () => null,
  })
  return between?.map(({ numerator, denominator }) => Number(numerator) / Number(denominator))
}

test('writes of an unknown life are at most the writes that are reported', () => {
  expect(boundsOf({ cached_tokens: 0, cache_write_tokens: 500 })).toEqual([0.0085, 0.01])
  expect(boundsOf({ cached_tokens: 0, cache_write_tokens: 0 })).toEqual([0.008, 0.008])
  expect(boundsOf({ cached_tokens: 0 })).toEqual([0.008, 0.016])
})
