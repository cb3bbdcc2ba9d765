import { expect, test } from 'vitest'
import { rational } from '../../src/money/rational.ts'
import { calculate } from '../../src/price/calculate.ts'
import { formulaText } from '../../src/price/formula-text.ts'
import { readUsage } from '../../src/tokens/read-usage.ts'
import { modelOf } from './made-requests.ts'

/** The formula of an answer of 14 and 5 tokens, or of none. */
function textOf(
  fields: Parameters<typeof modelOf>[0],
  counts: Readonly<Record<string, bigint>> = {},
  tokens: readonly [number, number] = [14, 5],
) {
  const [prompt_tokens, completion_tokens] = tokens
  const usage = readUsage({ prompt_tokens, completion_tokens }, 'openai-chat')
  const context = {
    ...{ atMs: 0, serviceTier: null, choices: {}, outcome: 'success' as const },
    counts: Object.fromEntries(
      Object.entries(counts).map(([name, count]) => [name, rational(count)]),
    ),
  }
  return formulaText(calculate(modelOf(fields), usage, context), 'USD')
}

test('a formula has each count that is not 0, in words, with its price and what that is per', () => {
  expect(textOf({ price: { input: 4, output: { price: 20, per: 1000 } } })).toBe(
    '14 input tokens x 4 USD per million + 5 output tokens x 20 USD per thousand',
  )
  expect(
    textOf({ price: { input: 4, request: { price: 0.5, per: 1 } } }, { request: 1n }, [0, 0]),
  ).toBe('1 request x 0.5 USD')
  expect(textOf({ price: { input: 4, page: { price: 3, per: 10 } } }, { page: 2n }, [0, 0])).toBe(
    '2 page x 3 USD per 10',
  )
  expect(textOf({ price: { input: 4, output: 20 } }, {}, [0, 0])).toBe('0')
})

test('the steps after the sum follow the parts', () => {
  const round = { at: 'request', digits: 2, mode: 'up' }
  expect(textOf({ price: { input: 4 }, round }, {}, [14, 0])).toMatch(
    /^14 input tokens x 4 USD per million, \S/,
  )
})
