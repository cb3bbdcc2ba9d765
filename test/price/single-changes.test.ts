import { describe, expect, test } from 'vitest'
import type { ModelPrice } from '../../src/contract/prices.ts'
import { currency } from '../../src/money/money.ts'
import {
  add,
  decimalText,
  divide,
  multiply,
  type Rational,
  rational,
  readNumber,
  roundTo,
} from '../../src/money/rational.ts'
import { calculate, type PriceContext } from '../../src/price/calculate.ts'
import { explain } from '../../src/price/judge/explain.ts'
import { judgePlace } from '../../src/price/judge/judge.ts'
import type { OtherCurrency } from '../../src/price/judge/price-judge.ts'
import { readUsage } from '../../src/tokens/read-usage.ts'
import type { Usage } from '../../src/tokens/usage.ts'
import { modelOf, request, statement } from './made-requests.ts'

/** One change to what a service computes, and the words that it is told by. */

const price = { input: 4, output: 20, cache_read: 0.4 }
const answers = [
  [1_013, 0, 307],
  [2_011, 1_001, 53],
  [4_507, 2_003, 811],
] as const
const usages = answers.map(([input, cached, output]) =>
  readUsage(
    {
      prompt_tokens: input,
      completion_tokens: output,
      prompt_tokens_details: { cached_tokens: cached },
    },
    'openai-chat',
  ),
)
const context: PriceContext = {
  ...{ atMs: Date.parse('2026-11-25T12:00:00Z'), serviceTier: null, choices: {} },
  ...{ outcome: 'success', counts: {} },
}

/** What is told of the costs that this makes of each usage, but for those that are right. */
function told(
  model: ModelPrice,
  cost: (usage: Usage, right: Rational) => Rational,
  {
    others = [],
    isRight = () => false,
  }: { others?: readonly OtherCurrency[]; isRight?: (nth: number) => boolean } = {},
) {
  const costs = usages.map((usage, at) => {
    const exact = calculate(model, usage, context).cost!
    return decimalText(roundTo(isRight(at) ? exact : cost(usage, exact), 12, 'half_even'))
  })
  const judged = judgePlace(
    usages.map((usage, slot) => ({
      request: request({ slot, usage }),
      statement: statement(costs[slot]!),
    })),
    {
      ...{ currency: currency('USD'), priceOf: () => model, choices: {}, clockErrorMs: 0 },
      twinOf: () => null,
    },
  )
  expect(judged.map(({ is }) => is)).toEqual(
    usages.map((_, at) => (isRight(at) ? 'right' : 'wrong')),
  )
  return explain(judged, { priceOf: () => model, others }).explanations.map(
    ({ summary }) => summary,
  )
}
const by = (changed: ModelPrice) => (usage: Usage) => calculate(changed, usage, context).cost!
const plain = modelOf({ price })
const money = (text: string) => readNumber(text)!

describe('a single change is told by its cause', () => {
  test.each(['0.05', '0.07'])('a smallest charge of %s that nothing promises', (least) => {
    const found = told(plain, () => money(least))
    expect(found[0]).toBe(`a smallest charge of ${least}`)
  })

  test('a smallest charge that spares what costs more', () => {
    // 0.011205 and 0.011115, which a rounding to cents would make 0.02, too; the last answer costs 0.038755, and is right.
    const dear = modelOf({ price: { input: 5, output: 20 } })
    const found = told(dear, () => money('0.02'), { isRight: (nth) => nth === 2 })
    expect(found).toEqual(['a smallest charge of 0.02'])
  })

  test.each(['0.001', '0.25'])('a fee of %s for each request', (fee) => {
    expect(told(plain, (_, right) => add(right, money(fee)))[0]).toBe(
      `${fee} more for each request`,
    )
  })

  test.each([
    ['1.19', 'a tax or fee of 19 %'],
    ['1.07', 'a tax or fee of 7 %'],
    ['1.2', 'a tax or fee of 20 %'],
  ])('%s times the cost, as a tax', (times, words) => {
    expect(told(plain, (_, right) => multiply(right, money(times)))[0]).toBe(
      `${times} times the cost, as with ${words}`,
    )
  })

  const monthly = (months: readonly string[]) =>
    modelOf({
      price,
      changes: months.map((from, at) => ({
        from: `${from}T00:00:00Z`,
        price: { input: 5 + 2 * at, output: 23 + 3 * at },
      })),
    })
  const past = monthly(['2026-01-01', '2026-04-01', '2026-07-01', '2026-10-01'])
  const withNext = monthly(['2026-01-01', '2026-04-01', '2026-10-01', '2026-12-01', '2027-01-01'])
  const at = (model: ModelPrice, month: string) => (usage: Usage) =>
    calculate(model, usage, { ...context, atMs: Date.parse(`${month}T12:00:00Z`) }).cost!

  test.each([
    ['2026-02-05', 'the price from 2026-01-01 on'],
    ['2026-05-05', 'the price from 2026-04-01 on'],
    ['2026-08-05', 'the price before its last change'],
    ['2025-08-05', 'the price before all changes'],
  ])('the price of another month: %s', (month, words) => {
    expect(told(past, at(past, month))).toEqual([words])
  })

  test.each([
    ['2026-05-05', 'the price from 2026-04-01 on'],
    ['2026-02-05', 'the price from 2026-01-01 on'],
    ['2026-12-05', 'the price from 2026-12-01 on'],
    ['2027-02-05', 'a change applied before its time'],
  ])('the price of another month where changes are to come: %s', (month, words) => {
    expect(told(withNext, at(withNext, month))).toEqual([words])
  })

  test('the second of two hours applied at another time', () => {
    const model = modelOf({
      price,
      hours: [
        { utc: ['18:00-20:00'], times: 2 },
        { utc: ['00:00-06:00'], times: '0.5' },
      ],
    })
    expect(told(model, (_, right) => divide(right, money('2')))[0]).toMatch(
      /^the hours from 00:00 on applied all day$|^0\.5 times the cost/,
    )
    expect(told(model, (_, right) => divide(right, money('2')))).toContain(
      'the hours from 00:00 on applied all day',
    )
  })

  test.each([1])('amounts rounded to %i decimal', (digits) => {
    const found = told(plain, (_, right) => roundTo(right, digits, 'up'))
    expect(found[0]).toBe(`the request rounded to ${digits} decimals, up`)
  })

  test.each([10, 100, 1000])('counts of tokens rounded up to %i', (step) => {
    const up = (count: number) => Math.ceil(count / step) * step
    const found = told(plain, (usage) =>
      by(plain)({
        ...usage,
        parts: Object.fromEntries(
          Object.entries(usage.parts).map(([part, count]) => [
            part,
            count === null ? null : up(count),
          ]),
        ) as Usage['parts'],
      }),
    )
    expect(found[0]).toBe(`each count of tokens rounded up to ${step}`)
  })

  const yuan: readonly OtherCurrency[] = [{ name: 'CNY', rate: rational(14n, 100n), isNamed: true }]
  test('amounts of another currency that were not converted', () => {
    expect(told(plain, (_, right) => divide(right, money('0.14')), { others: yuan })[0]).toBe(
      'the amount in CNY, not converted',
    )
  })

  test('amounts that were converted twice', () => {
    expect(told(plain, (_, right) => multiply(right, money('0.14')), { others: yuan })[0]).toBe(
      'converted from CNY twice',
    )
  })

  test('parts that are rounded in another currency', () => {
    const rounded = (usage: Usage) =>
      calculate(plain, usage, context)
        .lines.map(({ cost }) =>
          multiply(roundTo(divide(cost, money('0.14')), 4, 'up'), money('0.14')),
        )
        .reduce(add, rational(0n))
    expect(told(plain, rounded, { others: yuan })[0]).toBe(
      'each part rounded to 4 decimals of CNY, up',
    )
  })
})

test('different amounts too much have no single cause', () => {
  const more = ['0.0013', '0.02', '0.00071']
  let nth = 0
  expect(told(plain, (_, right) => add(right, money(more[nth++]!)))).toEqual([])
})
