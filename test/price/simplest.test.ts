import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ModelPrice } from '../../src/contract/prices.ts'
import { currency } from '../../src/money/money.ts'
import {
  add,
  decimalText,
  multiply,
  type Rational,
  rational,
  readNumber,
  roundTo,
} from '../../src/money/rational.ts'
import { calculate } from '../../src/price/calculate.ts'
import { changesFor } from '../../src/price/judge/changes/changes.ts'
import { type Explanation, explain } from '../../src/price/judge/explain.ts'
import { judgePlace } from '../../src/price/judge/judge.ts'
import type { OtherCurrency } from '../../src/price/judge/price-judge.ts'
import type { PricedRequest } from '../../src/price/judge/request.ts'
import { bySimplicity, type Simplicity, simplestOf } from '../../src/price/judge/simplest.ts'
import { readUsage } from '../../src/tokens/read-usage.ts'
import { modelOf, request, statement } from './made-requests.ts'

/** The simplest cause that gives all wrong amounts is told: the fewest fitted numbers, then the likelier kind, then the fewest right amounts spared. */

const usual = Date.parse('2026-11-25T12:00:00Z')
const named = (id: string, fields: Readonly<Record<string, unknown>>): ModelPrice => ({
  ...modelOf(fields),
  id,
})
const big = named('big', { price: { input: 4, cache_read: 0.4, output: 20 } })
const small = named('small', { price: { input: 0.15, output: 0.6 } })

interface Paid {
  readonly of?: ModelPrice
  readonly input: number
  readonly cached?: number
  readonly output: number
  readonly atMs?: number
  readonly more?: Partial<PricedRequest>
  /** What it cost, of the right cost; absent: that. */
  readonly cost?: (right: Rational) => Rational
}

function explained(
  paid: readonly Paid[],
  models: readonly ModelPrice[] = [big, small],
  others: readonly OtherCurrency[] = [],
): readonly Explanation[] {
  const priceOf = (name: string) => models.find(({ id }) => id === name) ?? null
  const judged = judgePlace(
    paid.map(({ of = models[0]!, input, cached = 0, output, atMs = usual, more, cost }, slot) => {
      const usage = readUsage(
        {
          ...{ prompt_tokens: input, completion_tokens: output },
          prompt_tokens_details: { cached_tokens: cached },
        },
        'openai-chat',
      )
      const asked = request({
        ...{ slot, usage, startMs: atMs, endMs: atMs, requestedModel: of.id },
        ...{ returnedModel: of.id, ...more },
      })
      const [outcome] = asked.outcomes
      const right = calculate(of, usage, {
        ...{ atMs, serviceTier: null, choices: {}, outcome: outcome!, counts: {} },
      }).cost!
      return { request: asked, statement: statement(decimalText(cost?.(right) ?? right)) }
    }),
    {
      currency: currency('USD'),
      priceOf,
      choices: {},
      clockErrorMs: 0,
      twinOf: () => null,
      others,
    },
  )
  return explain(judged, { priceOf, others, models }).explanations
}
const told = (...of: Parameters<typeof explained>) =>
  explained(...of).map(({ summary, scope }) => (scope === '' ? summary : `${summary} (${scope})`))
const more = (amount: string) => (right: Rational) => add(right, readNumber(amount)!)
const times = (by: string) => (right: Rational) => multiply(right, readNumber(by)!)

describe('the order of causes', () => {
  const simplicity = fc.record({
    isContradicted: fc.boolean(),
    numbers: fc.nat(4),
    kind: fc.nat(8),
    spares: fc.nat(20),
  })

  test('is one order: of two, one is simpler, or they assume as much', () => {
    fc.assert(
      fc.property(simplicity, simplicity, simplicity, (a, b, c) => {
        expect(Math.sign(bySimplicity(a, b)) + Math.sign(bySimplicity(b, a))).toBe(0)
        if (bySimplicity(a, b) <= 0 && bySimplicity(b, c) <= 0)
          expect(bySimplicity(a, c)).toBeLessThanOrEqual(0)
      }),
    )
  })

  test('puts a cause with one more fitted number after every one of fewer, whatever its kind', () => {
    fc.assert(
      fc.property(simplicity, simplicity, (a, b) => {
        const isAs = { isContradicted: a.isContradicted }
        expect(bySimplicity({ ...b, ...isAs, numbers: a.numbers + 1 }, a)).toBeGreaterThan(0)
        expect(
          bySimplicity({ ...a, isContradicted: true }, { ...b, isContradicted: false }),
        ).toBeGreaterThan(0)
      }),
    )
  })

  test('gives the simplest of all kinds, whichever of them are looked at', () => {
    const causes = fc.array(simplicity, { maxLength: 4 })
    const kinds = fc.array(fc.tuple(fc.nat(2), causes), { maxLength: 5 })
    fc.assert(
      fc.property(kinds, (drawn) => {
        const made = drawn
          .toSorted(([a], [b]) => a - b)
          .map(([least, found], kind) => ({
            numbers: least,
            found: found.map((each) => ({ ...each, kind, numbers: least + each.numbers })),
          }))
        const best = simplestOf(
          made.map(({ numbers, found }) => ({ numbers, find: () => found })),
          (each) => each,
        )
        const all: readonly Simplicity[] = made.flatMap(({ found }) => found)
        for (const each of best)
          for (const other of all) expect(bySimplicity(each, other)).toBeLessThanOrEqual(0)
        expect(best.length > 0).toBe(all.length > 0)
      }),
    )
  })
})

const counts = fc.record({
  input: fc.integer({ min: 101, max: 90_000 }),
  cached: fc.integer({ min: 11, max: 100 }),
  output: fc.integer({ min: 7, max: 9_000 }),
})
test('a change that needs no fitted number is never told as one that needs some, whichever requests it struck', () => {
  const models = [big]
  const changes = changesFor(models, { priceOf: () => big }).filter(
    ({ about }) => about !== 'round' && about !== 'charged',
  )
  fc.assert(
    fc.property(
      fc.constantFrom(...changes),
      fc.array(counts, { minLength: 2, maxLength: 5 }),
      fc.array(counts, { maxLength: 4 }),
      (change, wrong, right) => {
        const usageOf = ({ input, cached, output }: (typeof wrong)[number]) =>
          readUsage(
            {
              ...{ prompt_tokens: input, completion_tokens: output },
              prompt_tokens_details: { cached_tokens: cached },
            },
            'openai-chat',
          )
        const context = {
          ...{
            atMs: usual,
            serviceTier: null,
            choices: {},
            outcome: 'success' as const,
            counts: {},
          },
        }
        const costs = wrong.map((each) => change.costOf(request(), big, usageOf(each), context))
        fc.pre(
          costs.every(
            (cost, at) =>
              cost !== null &&
              decimalText(cost) !==
                decimalText(calculate(big, usageOf(wrong[at]!), context).cost!) &&
              decimalText(roundTo(cost, 12, 'half_even')) === decimalText(cost),
          ),
        )
        const found = explained(
          [
            ...wrong.map((each, at) => ({
              ...each,
              more: { isStream: true },
              cost: () => costs[at]!,
            })),
            ...right,
          ],
          models,
        )
        expect(found.length).toBeGreaterThan(0)
        for (const { numbers } of found) expect(numbers).toBe(0)
      },
    ),
    { numRuns: 300 },
  )
})

describe('cached tokens that are charged a second time', () => {
  // 2,176 of 4 USD for a million are 0.008704 USD each time, also where the model has another price.
  const cost = more('0.008704')
  const cached = [big, small, big, small].map((of, nth) => ({
    ...{ of, input: 2_201 + nth, cached: 2_176, output: 16, atMs: usual + 60_000 + nth, cost },
  }))
  const plain = Array.from({ length: 6 }, (_, nth) => ({
    ...{ of: nth % 2 === 0 ? big : small, input: 2_201 + nth, output: 16, atMs: usual + nth },
  }))

  test('at the input price of one model are told so, and not as a fee from a moment on', () => {
    expect(told([...plain, ...cached])).toEqual(['cache_read also charged as input of big'])
  })

  test('at the input price of their own model are told by that', () => {
    const ofBig = [...plain, ...cached].filter(({ of }) => of === big)
    expect(told(ofBig)).toEqual(['cache_read also charged as input'])
  })
})

test('a fee that only requests with cached tokens have is told with that, and not with a moment', () => {
  const cost = more('0.005')
  const paid = [301, 777, 1_012].map((cached, nth) => ({
    ...{ input: 2_201, cached, output: 16 + nth, atMs: usual + 60_000 + nth, cost },
  }))
  const plain = Array.from({ length: 9 }, (_, nth) => ({
    ...{ input: 1_201 + nth, output: 16, atMs: usual + nth },
  }))
  expect(told([...plain, ...paid], [big])).toEqual([
    '0.005 more for each request (of requests with cache_read)',
  ])
})

describe('an amount that was charged several times', () => {
  const paid = { input: 7, output: 12 }
  const same = { ...paid, cost: (right: Rational) => multiply(right, rational(75n, 72n)) }

  test('is one amount: a price that fits it by chance is no cause', () => {
    const model = named('m', { price: { input: 1, output: 5 } })
    const rounded = (right: Rational) => roundTo(same.cost(right), 12, 'half_even')
    const five = Array.from({ length: 5 }, () => ({ ...paid, cost: rounded }))
    expect(told(five, [model]).filter((each) => each.includes('its price'))).toEqual([])
  })

  test.each([
    [
      'another rate than that of the contract is told with both',
      { rate: rational(5n, 36n), by: rational(75n, 72n) },
      'converted from CNY at a rate of 7.5, where the contract has 7.2',
    ],
    [
      'a rate of a currency that was not converted is told with both',
      { rate: rational(108n, 100n), by: rational(92n, 100n) },
      'in CNY, not converted, as at a rate of 0.92, where the contract has 0.9259',
    ],
  ])('%s', (_, { rate, by }, words) => {
    const model = named('m', { price: { input: 720, output: 3600 } })
    const cost = (right: Rational) => multiply(right, by)
    const wrong = [paid, { input: 1_013, output: 307 }].map((each) => ({ ...each, cost }))
    const others = [{ name: 'CNY', rate, isNamed: true }]
    expect(told(wrong, [model], others)[0]).toBe(words)
  })
})

test('one share of whole costs that is no tax is told as a discount, or as a rate', () => {
  const wrong = [
    { input: 1_000, output: 307, cost: times('0.92') },
    { input: 3_000, output: 53, cost: times('0.92') },
  ]
  expect(told(wrong, [big])).toEqual([
    '0.92 times the cost, as with a discount, or with another currency at that rate',
  ])
})

test.each([
  ['refused', 'charged in full: answers that were refused'],
  ['gateway_cache', 'charged in full: answers that came again'],
  ['broken', 'charged in full: answers that the service broke off'],
  ['empty', 'charged in full: answers without text'],
] as const)('what a contract promises to be free is told by how it ended: %s', (outcome, words) => {
  const model = named('m', {
    price: { request: 0.5 },
    charged: { refused: 'none', broken: 'none', empty: 'none', gateway_cache: 'none' },
  })
  const ended = { more: { outcomes: [outcome] } } as const
  const paid = [
    { input: 1_013, output: 307, ...ended, cost: () => readNumber('0.5')! },
    { input: 3_019, output: 211 },
  ]
  expect(told(paid, [model])).toEqual([words])
})

test('the price of a model that no request asked for is told by its name', () => {
  const other = named('other', { price: { input: 0.65, output: 2.55 } })
  const cost = (input: number, output: number) => () =>
    rational(BigInt(input * 65 + output * 255), 100_000_000n)
  const wrong = [
    { input: 1_013, output: 307, cost: cost(1_013, 307) },
    { input: 4_507, output: 811, cost: cost(4_507, 811) },
  ]
  expect(told(wrong, [big, other])).toEqual(['the price of other'])
})

test('a price at another number is told also where the right cost is a smallest charge', () => {
  const least = named('m', { price: { input: 0.2, output: 4.05 }, minimum: 0.001 })
  const cost = (input: number, output: number) => () =>
    rational(BigInt(input * 2_000 + output * 52_650), 10_000_000_000n)
  const wrong = [
    { input: 210, output: 189, cost: cost(210, 189) },
    { input: 210, output: 368, cost: cost(210, 368) },
  ]
  expect(told([...wrong, { input: 210, output: 171 }], [least])).toEqual([
    'output at 1.3 times its price',
  ])
})

describe('amounts of few decimals', () => {
  // Costs are shown to 0.0001, and these are 0.0002 too low: so is what two of three changes give.
  const rounded = (right: Rational) => roundTo(right, 4, 'half_even')
  const few = [262, 270, 281].map((input, nth) => ({
    ...{ input: 100 * input, output: 10 + nth },
    cost: (right: Rational) => rounded(add(right, readNumber('-0.0002')!)),
  }))
  const other = { input: 100_000, output: 12, cost: () => readNumber('0.3007')! }

  test('accuse no part, where any change gives some of them', () => {
    const found = explained([...few, other], [big])
    expect(found.filter(({ about }) => about === 'output' || about === 'input')).toEqual([])
  })

  test('are no sure cause of a price where a change gives all of them', () => {
    for (const { isSure, about } of explained(few, [big]))
      expect([about, isSure]).toEqual([about, about === 'round'])
  })
})

test('a part that is charged twice is told so also where a tier begins at the count of one model', () => {
  const tiered = named('m', {
    price: { input: 4, output: 20 },
    tiers: { steps: [{ above: 2_000, price: { input: 8 } }] },
  })
  const wrong = [
    { of: tiered, input: 1_013, output: 307, cost: more('0.004052') },
    { of: tiered, input: 2_013, output: 53, cost: more('0.016104') },
    { of: small, input: 3_019, output: 53, cost: more('0.00045285') },
  ]
  expect(told(wrong, [tiered, small])).toEqual(['input counted twice'])
})

test('a share of whole costs that has usual words is told by these', () => {
  const wrong = [
    { input: 1_000_000, output: 300_000, cost: times('0.001') },
    { input: 3_000_000, output: 50_000, cost: times('0.001') },
  ]
  expect(told(wrong, [big])).toEqual(['a thousandth of it'])
})
