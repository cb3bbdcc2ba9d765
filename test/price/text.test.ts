import { expect, test } from 'vitest'
import { calculate } from '../../src/price/calculate.ts'
import { costText } from '../../src/price/text.ts'
import { readUsage } from '../../src/tokens/read-usage.ts'
import { modelOf } from './made-requests.ts'

test('a part without a price of its own says whose price it has', () => {
  const usage = readUsage(
    {
      ...{ prompt_tokens: 100, completion_tokens: 50 },
      prompt_tokens_details: { cached_tokens: 40 },
      completion_tokens_details: { reasoning_tokens: 20 },
    },
    'openai-chat',
  )
  const model = modelOf({ price: { input: 2, output: 10 } })
  const context = { atMs: 0, serviceTier: null, choices: {}, counts: {} }
  const found = calculate(model, usage, { ...context, outcome: 'success' })
  expect(costText('m', found, usage, 'USD').split('\n').slice(1, 5)).toEqual([
    '  input_uncached         60 x 2 / 1,000,000  = 0.00012',
    '  cache_read (as input)  40 x 2 / 1,000,000  = 0.00008',
    '  output_visible         30 x 10 / 1,000,000 = 0.0003',
    '  reasoning (as output)  20 x 10 / 1,000,000 = 0.0002',
  ])
})
