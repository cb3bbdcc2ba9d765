import { expect, test } from 'vitest'
import { currency } from '../../src/money/money.ts'
import { expectedCosts } from '../../src/price/judge/expected.ts'
import { readUsage } from '../../src/tokens/read-usage.ts'
import { modelOf, request } from './made-requests.ts'

const writes = { input: 4, cache_write: 5, cache_write_1h: 8, output: 20 }

function boundsOf(details: object, price: object = writes) {
  const model = modelOf({ price, usage: 'openai-chat' }, 'USD')
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

test('parts that may be of different ones are there together', () => {
  // 500 written for an hour, and 1,500 of images.
  expect(
    boundsOf({ cached_tokens: 0, cache_write_tokens: 500 }, { ...writes, input_image: 6 }),
  ).toEqual([0.0085, 0.013])
  // 1,000 of audio that is read again, and 500 written for an hour.
  expect(
    boundsOf(
      { cached_tokens: 1000, cache_write_tokens: 500 },
      { ...writes, cache_read: 0.4, cache_read_audio: 4 },
    ),
  ).toEqual([0.0049, 0.01])
})
