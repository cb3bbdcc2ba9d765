import { expect, test } from 'vitest'
import { currency } from '../../src/money/money.ts'
import { explain } from '../../src/price/judge/explain.ts'
import { judgePlace } from '../../src/price/judge/judge.ts'
import { readUsage } from '../../src/tokens/read-usage.ts'
import { modelOf, request, statement } from './made-requests.ts'

const model = modelOf({ price: { input: 4, cache_read: 0.4, output: 20, request: 0.001 } })

/** What is said of amounts for answers with so many tokens of input and output. */
function said(...amounts: readonly (readonly [number, number, string])[]): readonly string[] {
  const judged = judgePlace(
    amounts.map(([prompt_tokens, completion_tokens, cost]) => ({
      request: request({
        usage: readUsage(
          { prompt_tokens, completion_tokens, prompt_tokens_details: { cached_tokens: 0 } },
          'openai-chat',
        ),
      }),
      statement: statement(cost),
    })),
    {
      currency: currency('USD'),
      priceOf: () => model,
      choices: {},
      clockErrorMs: 0,
      twinOf: () => null,
    },
  )
  return explain(judged, { priceOf: () => model }).explanations.map(({ summary }) => summary)
}

test('a price that is another number is named, with the share of it that was charged', () => {
  // 1000 x 4.4 + 100 x 20 and 317 x 4.4 + 40 x 20, for a million, and the request.
  expect(said([1000, 100, '0.0074'], [317, 40, '0.0031948'])).toEqual([
    'input at 1.1 times its price',
  ])
})

test('a whole cost that is another share of itself is named', () => {
  expect(said([1000, 100, '0.0077'], [317, 40, '0.0033748'])).toEqual([
    '1.1 times the cost, as with a tax or fee of 10 %',
  ])
})

test('amounts that no one price gives have no such cause, and neither has a share of many digits', () => {
  expect(said([1000, 100, '0.0074'], [317, 40, '0.0032049'])).not.toContain(
    'input at 1.1 times its price',
  )
  expect(said([1000, 100, '0.007123456789']).filter((each) => each.includes('times'))).toEqual([])
})

test('a broken answer that is charged, and must cost nothing, is named by how it ended', () => {
  const free = modelOf({ price: { input: 4, output: 20 }, charged: { broken: 'none' } })
  const judge = {
    currency: currency('USD'),
    priceOf: () => free,
    choices: {},
    clockErrorMs: 0,
    twinOf: () => null,
  }
  const broken = { request: request({ outcomes: ['broken'] }), statement: statement('0.00031') }
  const { explanations } = explain(judgePlace([broken], judge), { priceOf: () => free })
  expect(explanations.map(({ summary }) => summary)).toEqual([
    'answers that the service broke off were charged, which cost nothing',
  ])
})
