import { expect, test } from 'vitest'
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
  zero,
} from '../../src/money/rational.ts'
import { calculate } from '../../src/price/calculate.ts'
import { explain } from '../../src/price/judge/explain.ts'
import { judgePlace } from '../../src/price/judge/judge.ts'
import type { OtherCurrency } from '../../src/price/judge/price-judge.ts'
import { readUsage } from '../../src/tokens/read-usage.ts'
import { modelOf, request, statement } from './made-requests.ts'

/** Right amounts beside wrong ones: a cause that would have changed them, too, is not told where another one leaves them right. */

const usual = Date.parse('2026-11-25T12:00:00Z')
const money = (text: string) => readNumber(text)!
const dayMs = 86_400_000

interface Paid {
  readonly input: number
  readonly cached?: number
  readonly output: number
  readonly model?: string
  readonly isStream?: boolean
  readonly tier?: string
  readonly atMs?: number
  /** What it cost, of the right cost; absent: that. */
  readonly cost?: (right: Rational) => Rational
}

/** What is told of these, with what the wrong ones have in common. */
function told(
  models: readonly ModelPrice[],
  paid: readonly Paid[],
  others: readonly OtherCurrency[] = [],
): readonly string[] {
  const priceOf = (name: string) => models.find(({ id }) => id === name) ?? null
  const judged = judgePlace(
    paid.map(({ input, cached = 0, output, cost, ...of }, slot) => {
      const usage = readUsage(
        {
          ...{ prompt_tokens: input, completion_tokens: output },
          prompt_tokens_details: { cached_tokens: cached },
        },
        'openai-chat',
      )
      const { model = 'm', isStream = false, tier = null, atMs = usual } = of
      const right = calculate(priceOf(model)!, usage, {
        ...{ atMs, serviceTier: tier, choices: {}, outcome: 'success', counts: {} },
      }).cost!
      return {
        request: request({
          ...{ slot, usage, isStream, serviceTier: tier, startMs: atMs, endMs: atMs },
          ...{ requestedModel: model, returnedModel: model },
        }),
        statement: statement(decimalText(roundTo(cost?.(right) ?? right, 12, 'half_even'))),
      }
    }),
    { currency: currency('USD'), priceOf, choices: {}, clockErrorMs: 0, twinOf: () => null },
  )
  expect(judged.map(({ is }) => is)).toEqual(
    paid.map(({ cost }) => (cost === undefined ? 'right' : 'wrong')),
  )
  return explain(judged, { priceOf, others }).explanations.map(({ summary, scope }) =>
    scope === '' ? summary : `${summary} (${scope})`,
  )
}

const price = { input: 4, output: 20, cache_read: 0.4 }
const plain = modelOf({ price })
const named = (id: string, fields: Readonly<Record<string, unknown>>): ModelPrice => ({
  ...modelOf(fields),
  id,
})
const times = (by: string) => (right: Rational) => multiply(right, money(by))

test.each(['0.02', '0.03'])(
  'a smallest charge of %s is no rounding up to cents where a larger cost is exact',
  (least) => {
    const cost = () => money(least)
    const wrong = least === '0.02' ? [2_600, 3_100] : [5_100, 6_300]
    expect(
      told(
        [plain],
        [...wrong.map((input) => ({ input, output: 103, cost })), { input: 9_007, output: 101 }],
      ),
    ).toEqual([`a smallest charge of ${least}`])
  },
)

test('a rounding of each stream is told beside plain answers that are exact', () => {
  const cost = (right: Rational) => roundTo(right, 2, 'up')
  expect(
    told(
      [plain],
      [
        { input: 1_013, output: 307, isStream: true, cost },
        { input: 4_507, output: 811, isStream: true, cost },
        { input: 2_011, output: 53 },
      ],
    ),
  ).toEqual(['the request rounded to 2 decimals, up (of streams)'])
})

test('a rounding of each part is told beside amounts whose parts are whole', () => {
  const parts = (input: number, output: number) => () =>
    [input * 4, output * 20]
      .map((micro) => roundTo(rational(BigInt(micro), 1_000_000n), 3, 'up'))
      .reduce(add, zero)
  expect(
    told(
      [plain],
      [
        { input: 1_013, output: 307, cost: parts(1_013, 307) },
        { input: 4_507, output: 811, cost: parts(4_507, 811) },
        { input: 1_000, output: 50 },
      ],
    ),
  ).toEqual(['each part rounded to 3 decimals, up'])
})

test('a tier that begins too early is told with the length of the prompts that it struck', () => {
  const model = modelOf({
    price,
    tiers: { steps: [{ above: 2_000, price: { input: 8, output: 30 } }] },
  })
  const dear = modelOf({ price: { ...price, input: 8, output: 30 } })
  const inTier = (input: number, output: number) => () =>
    calculate(dear, readUsage({ prompt_tokens: input, completion_tokens: output }, 'openai-chat'), {
      atMs: usual,
      serviceTier: null,
      choices: {},
      outcome: 'success',
      counts: {},
    }).cost!
  const right = Array.from({ length: 12 }, (_, nth) => ({
    input: 101 + 97 * nth,
    output: 53 + nth,
  }))
  const wrong = [1_507, 1_601, 1_733, 1_999].map((input, nth) => ({
    ...{ input, output: 307 + nth },
    cost: inTier(input, 307 + nth),
  }))
  expect(told([model], [...right, ...wrong, { input: 2_501, output: 103 }])).toEqual([
    'the price of the tier (of prompts of 1507 tokens or more)',
  ])
})

test('the price of another model is told of one model, and not a discount that the others do not have', () => {
  const service = { flex: { times: 0.5 } }
  const big = named('m', { price, service })
  const small = named('small', { price: { input: 2, output: 10, cache_read: 0.2 }, service })
  const cost = times('0.5')
  expect(
    told(
      [big, small],
      [
        { input: 1_013, output: 307, cost },
        { input: 4_507, output: 811, cost },
        { input: 2_011, output: 53, model: 'small' },
      ],
    ),
  ).toEqual(['the price of small'])
})

test('cached tokens at the full price are told beside answers without a cache', () => {
  const full = (cached: number) => (right: Rational) =>
    add(right, rational(BigInt(cached * 36), 10_000_000n))
  expect(
    told(
      [plain],
      [
        { input: 2_011, cached: 1_001, output: 53, cost: full(1_001) },
        { input: 4_507, cached: 2_003, output: 811, cost: full(2_003) },
        { input: 1_013, output: 307 },
        { input: 3_019, output: 211 },
      ],
    ),
  ).toEqual(['cache_read at the price of input'])
})

test.each([
  ['streams', { isStream: true }, 'of streams'],
  ['a service tier', { tier: 'flex' }, 'of service tier flex'],
  ['a model', { model: 'small' }, 'of model small'],
] as const)('a markup on %s alone is told with these words', (_, of, words) => {
  const service = { flex: { times: 0.5 } }
  const models = [
    named('m', { price, service }),
    named('small', { price: { input: 3, output: 7 }, service }),
  ]
  const cost = times('1.2')
  expect(
    told(models, [
      { input: 1_013, output: 307, ...of, cost },
      { input: 4_507, output: 811, ...of, cost },
      { input: 2_011, output: 53 },
      { input: 3_019, output: 211 },
    ]),
  ).toEqual([`1.2 times the cost, as with a tax or fee of 20 % (${words})`])
})

test('amounts of one model that were not converted are told beside those that were', () => {
  const others = [{ name: 'CNY', rate: rational(14n, 100n), isNamed: true }]
  const cost = (right: Rational) => divide(right, money('0.14'))
  const other = named('other', { price: { input: 3, output: 7 } })
  expect(
    told(
      [plain, other],
      [
        { input: 1_013, output: 307, cost },
        { input: 4_507, output: 811, cost },
        { input: 2_011, output: 53, model: 'other' },
      ],
      others,
    ),
  ).toEqual(['the amount in CNY, not converted (of model m)'])
})

test('an old price that was kept for two days is told with the time at which it ended', () => {
  const model = modelOf({
    price,
    changes: [{ from: '2026-11-20T00:00:00Z', price: { input: 5, output: 23 } }],
  })
  const from = Date.parse('2026-11-20T00:00:00Z')
  const old = (input: number, output: number) => () =>
    rational(BigInt(4 * input + 20 * output), 1_000_000n)
  const at = (days: number, input: number, output: number) => ({
    ...{ input, output, atMs: from + days * dayMs },
  })
  const before = [1, 2, 3].map((nth) => at(-nth, 1_013 + nth, 307))
  const stale = [0.1, 0.5, 1.1, 1.9].map((days, nth) => ({
    ...at(days, 2_011 + nth, 53 + nth),
    cost: old(2_011 + nth, 53 + nth),
  }))
  const after = Array.from({ length: 12 }, (_, nth) => at(2 + nth / 4, 3_019 + nth, 211 - nth))
  expect(told([model], [...before, ...stale, ...after])).toEqual([
    'the price before its last change (of requests before 2026-11-22 00:00:00 UTC)',
  ])
})

test('what struck one request of several alike is told as that', () => {
  const cost = times('2')
  expect(
    told(
      [plain],
      [
        { input: 1_013, output: 307, cost },
        { input: 4_507, output: 811 },
        { input: 2_011, output: 53 },
      ],
    ),
  ).toEqual(['charged twice (only these requests)'])
})

test('one of two wrong amounts that a rounding gives by chance is no cause', () => {
  expect(
    told(
      [plain],
      [
        { input: 1_013, output: 307, cost: () => money('0.02') },
        { input: 2_011, output: 53, cost: () => money('0.013177') },
        { input: 4_507, output: 811 },
      ],
    ),
  ).toEqual([])
})
