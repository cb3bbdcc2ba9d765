import { expect, test } from 'vitest'
import type { LoggedTokens, ModelPrice } from '../../src/contract/prices.ts'
import { currency } from '../../src/money/money.ts'
import { decimalText, rational } from '../../src/money/rational.ts'
import { explain } from '../../src/price/judge/explain.ts'
import { judgePlace } from '../../src/price/judge/judge.ts'
import type { OtherCurrency } from '../../src/price/judge/price-judge.ts'
import type { PricedRequest } from '../../src/price/judge/request.ts'
import { readUsage } from '../../src/tokens/read-usage.ts'
import { modelOf, request, statement } from './made-requests.ts'

/** The simplest single change that gives wrong costs is told, also where it is about one part at another list of the model. */

const price = { input: 4, cache_read: 0.4, output: 20, search: 0.01, 'tool.file_search': 0.0025 }
const tiers = {
  steps: [
    { above: 2_000, price: { input: 8, cache_read: 0.8, output: 30 } },
    { above: 9_000, price: { input: 16, output: 50 } },
  ],
}
const service = { flex: { times: 0.25 }, priority: { price: { input: 9, output: 41 } } }
const at = (day: string) => `${day}T00:00:00Z`
const changes = [
  { from: at('2026-09-01'), price: { input: 4, output: 22 } },
  { from: at('2026-10-01'), price: { input: 3, output: 19 } },
  { from: at('2026-12-01'), price: { input: 2, output: 17 } },
]

interface Counts {
  readonly input: number
  readonly read: number
  readonly output: number
}
const answers: readonly Counts[] = [
  { input: 101, read: 503, output: 53 },
  { input: 1_009, read: 307, output: 311 },
]
const usageOf = ({ input, read, output }: Counts) =>
  readUsage(
    { input_tokens: input, cache_read_input_tokens: read, output_tokens: output },
    'anthropic',
  )
const text = (pico: number) => decimalText(rational(BigInt(Math.round(pico)), 10n ** 12n))

/** What is told of these costs in picodollars, one for each answer. */
function told(
  model: ModelPrice,
  costOf: (counts: Counts) => number,
  {
    change = {},
    others = [],
    counts = answers,
    models = [model],
    named,
    loggedOf,
  }: {
    readonly change?: Partial<PricedRequest>
    readonly others?: readonly OtherCurrency[]
    readonly counts?: readonly Counts[]
    readonly models?: readonly ModelPrice[]
    readonly named?: Readonly<Record<string, string>>
    readonly loggedOf?: (request: PricedRequest) => LoggedTokens | null
  } = {},
): readonly string[] {
  const priceOf = (name: string) => models.find(({ id }) => id === name) ?? null
  const judged = judgePlace(
    counts.map((each, slot) => ({
      request: request({
        ...{ slot, requestedModel: model.id },
        usage: { ...usageOf(each), ...(named === undefined ? {} : { named }) },
        ...change,
      }),
      statement: statement(text(costOf(each))),
    })),
    {
      ...{ currency: currency('USD'), priceOf, choices: {}, clockErrorMs: 0, twinOf: () => null },
      ...(loggedOf === undefined ? {} : { loggedOf }),
    },
  )
  expect(judged.map(({ is }) => is)).toEqual(counts.map(() => 'wrong'))
  const { explanations, isWhole } = explain(judged, {
    ...{ priceOf, others },
    ...(loggedOf === undefined ? {} : { loggedOf }),
  })
  expect(isWhole).toBe(true)
  expect(explanations.length).toBeLessThanOrEqual(2)
  return explanations.map(({ summary }) => summary)
}

/** A cost in picodollars, by dollars for a million of each part. */
const sum =
  (input: number, read: number, output: number) =>
  (counts: Counts): number =>
    1e6 * (counts.input * input + counts.read * read + counts.output * output)

test('a tier is told that holds for a prompt below it, for all of the request or for one part', () => {
  const model = modelOf({ price, tiers })
  expect(told(model, sum(8, 0.8, 30))).toContain('the price of tier 1')
  expect(told(model, sum(16, 0.8, 50))).toContain('the price of tier 2')
  expect(told(model, sum(4, 0.4, 30))).toContain('output at the price of tier 1')
  expect(told(model, sum(8, 0.4, 20))).toContain('input at the price of tier 1')
  const one = modelOf({ price, tiers: { steps: [tiers.steps[0]] } })
  expect(told(one, sum(4, 0.8, 20))).toContain('cache_read at the price of the tier')
})

test('one part without the discount of a service tier, or with that of another, is told', () => {
  const model = modelOf({ price, service })
  const flex = { change: { serviceTier: 'flex' } }
  expect(told(model, sum(1, 0.1, 20), flex)).toContain(
    'output at its price without the service tier',
  )
  expect(told(model, sum(4, 0.1, 5), flex)).toContain('input at its price without the service tier')
  expect(told(model, sum(1, 0.1, 41), flex)).toContain(
    'output at the price of service tier priority',
  )
  expect(told(model, sum(9, 0.4, 20))).toContain('input at the price of service tier priority')
})

test('each price of a dated list is told, for all of the request and for one part', () => {
  const model = modelOf({ price, changes })
  // Today is between the second and the third change: 3 and 19.
  expect(told(model, sum(4, 0.4, 22))).toContain('the price from 2026-09-01 on')
  expect(told(model, sum(4, 0.4, 20))).toContain('the price before all changes')
  expect(told(model, sum(2, 0.4, 17))).toContain('a change applied before its time')
  expect(told(model, sum(3, 0.4, 22))).toContain('output at the price from 2026-09-01 on')
  expect(told(model, sum(3, 0.4, 17))).toContain('output at the price from 2026-12-01 on')
})

test('one part outside the hours while the rest is within them is told', () => {
  const hours = [{ utc: ['11:00-13:00'], times: 2 }]
  const model = modelOf({ price, hours })
  expect(told(model, sum(8, 0.8, 20))).toContain('output at its price outside the hours')
})

test('one part without the price of a name in the usage is told', () => {
  const by = { speed: { fast: { times: 2 }, slow: { times: 0.5 } } }
  const model = modelOf({ price, by })
  const fast = { named: { speed: 'fast' } }
  expect(told(model, sum(8, 0.8, 20), fast)).toContain('output at its price without usage.speed')
  expect(told(model, sum(8, 0.8, 10), fast)).toContain('output at the price of usage.speed slow')
})

test('one part within hours that are over is told', () => {
  const model = modelOf({ price, hours: [{ utc: ['01:00-02:00'], times: 2 }] })
  expect(told(model, sum(4, 0.4, 40))).toContain('output counted twice')
  const dear = modelOf({ price, hours: [{ utc: ['01:00-02:00'], price: { output: 33 } }] })
  expect(told(dear, sum(4, 0.4, 33))).toContain('the hours applied all day')
  const both = modelOf({
    price,
    hours: [{ utc: ['01:00-02:00'], price: { input: 7, output: 33 } }],
  })
  expect(told(both, sum(4, 0.4, 33))).toContain('output at its price within the hours')
})

test('one part at the price of another model is told', () => {
  const model = { ...modelOf({ price }), id: 'm' }
  const other = { ...modelOf({ price: { input: 7, output: 23 } }), id: 'other' }
  const own = judgedOf(model, other)
  expect(own(sum(4, 0.4, 23))).toContain('output at the price of other')
  expect(own(sum(7, 0.4, 20))).toContain('input at the price of other')
})

/** A request of a model that also asks the other one once, so that both are known. */
const judgedOf =
  (model: ModelPrice, other: ModelPrice) =>
  (costOf: (counts: Counts) => number): readonly string[] => {
    const priceOf = (name: string) => [model, other].find(({ id }) => id === name) ?? null
    const judged = judgePlace(
      [
        ...answers.map((each, slot) => ({
          request: request({ slot, usage: usageOf(each) }),
          statement: statement(text(costOf(each))),
        })),
        {
          request: request({
            ...{ slot: 9, usage: usageOf(answers[0]!) },
            ...{ requestedModel: 'other', returnedModel: 'other' },
          }),
          statement: statement(text(sum(7, 7, 23)(answers[0]!))),
        },
      ],
      {
        ...{ currency: currency('USD'), priceOf, choices: {}, clockErrorMs: 0 },
        twinOf: () => null,
      },
    )
    return explain(judged, { priceOf }).explanations.map(({ summary }) => summary)
  }

test('an amount that is shown in another currency, or converted twice, is told', () => {
  const model = modelOf({ price })
  const others = [{ name: 'CNY', rate: rational(14n, 100n) }]
  const right = sum(4, 0.4, 20)
  expect(told(model, (each) => right(each) / 0.14, { others })).toContain(
    'the amount in CNY, not converted',
  )
  expect(told(model, (each) => right(each) * 0.14, { others })).toContain(
    'converted from CNY twice',
  )
})

test.each([
  ['a tax', 1.19, '1.19 times the cost, as with a tax or fee of 19 %'],
  ['a margin that nobody promised', 1.05, '1.05 times the cost, as with a tax or fee of 5 %'],
  ['a price for a thousand tokens', 1000, 'a thousand times of it'],
  ['a price for a thousand million', 0.001, 'a thousandth of it'],
])('%s is told', (_, times, summary) => {
  const right = sum(4, 0.4, 20)
  expect(told(modelOf({ price }), (each) => right(each) * times)).toContain(summary)
})

test('one part by a price for a thousand tokens, and one with a tax, are told', () => {
  const model = modelOf({ price })
  expect(told(model, sum(4, 0.4, 20_000))).toContain('output at 1000 times its price')
  expect(told(model, sum(4, 0.4, 23.8))).toContain('output at 1.19 times its price')
})

test('a batch at the full price is told, and one batch price for a part', () => {
  const model = modelOf({ price, service: { batch: { times: 0.5 } } })
  const batch = { change: { serviceTier: 'batch' } }
  expect(told(model, sum(4, 0.4, 20), batch)).toContain('the service tier ignored')
  expect(told(model, sum(2, 0.2, 20), batch)).toContain(
    'output at its price without the service tier',
  )
})

test('counts in whole blocks, and all that the request allows, are told', () => {
  const model = modelOf({ price })
  const blocks = (size: number) => (each: Counts) => {
    const up = (count: number) => Math.ceil(count / size) * size
    return sum(4, 0.4, 20)({ input: up(each.input), read: up(each.read), output: up(each.output) })
  }
  expect(told(model, blocks(1000))).toContain('each count of tokens rounded up to 1000')
  expect(told(model, blocks(100))).toContain('each count of tokens rounded up to 100')
  expect(
    told(model, (each) => sum(4, 0.4, 20)({ ...each, output: 777 }), {
      change: { maxOutputTokens: 777 },
    }),
  ).toContain('charged for max_tokens')
})

test('a stream by the counts of its first event is told', () => {
  const first = { input: 101, read: 503, output: 1 }
  const last = answers[0]!
  expect(
    told(modelOf({ price }), () => sum(4, 0.4, 20)(first), {
      counts: [last],
      change: { isStream: true, eventUsages: [usageOf(first), usageOf(last)] },
    }),
  ).toContain('the counts of the first event alone')
})

test('a rounding to three decimals is told', () => {
  const model = modelOf({ price })
  const right = sum(4, 0.4, 20)
  for (const digits of [3]) {
    const unit = 10 ** (12 - digits)
    const up = (each: Counts) => Math.ceil(right(each) / unit) * unit
    expect(told(model, up)).toContain(`the request rounded to ${digits} decimals, up`)
  }
})

test("one part in another tier by the log's own counts is told", () => {
  const model = modelOf({ price, service })
  const loggedOf = ({ usage }: PricedRequest): LoggedTokens => ({
    ...{ cache_read: null, cache_write: null, cache_write_1h: null, reasoning: null },
    prompt: usage!.parts.input_uncached! + usage!.parts.cache_read! + 37,
    completion: usage!.parts.output_visible,
  })
  const charged = (each: Counts) => sum(4, 0.4, 41)({ ...each, input: each.input + 37 })
  expect(told(model, charged, { loggedOf })).toContain(
    'output at the price of service tier priority, by the counts of the log',
  )
})

test('a count of one-hour writes that only the log has is told', () => {
  const model = modelOf({ price: { input: 4, cache_write: 5, cache_write_1h: 7, output: 20 } })
  const usage = readUsage(
    {
      ...{ input_tokens: 100, cache_creation_input_tokens: 396, output_tokens: 53 },
      cache_creation: { ephemeral_5m_input_tokens: 307, ephemeral_1h_input_tokens: 89 },
    },
    'anthropic',
  )
  const judged = judgePlace(
    [
      {
        request: request({ usage }),
        statement: statement(text(1e6 * (100 * 4 + 396 * 7 + 53 * 20))),
      },
    ],
    {
      ...{ currency: currency('USD'), priceOf: () => model, choices: {}, clockErrorMs: 0 },
      twinOf: () => null,
    },
  )
  const loggedOf = (): LoggedTokens => ({
    ...{ prompt: 496, completion: 53, cache_read: null, reasoning: null },
    ...{ cache_write: 0, cache_write_1h: 396 },
  })
  expect(
    explain(judged, { priceOf: () => model, loggedOf }).explanations.map(({ summary }) => summary),
  ).toContain('the counts of the log, which are not those of the answer')
})

test('two calls of different tools that are exchanged are told', () => {
  const model = modelOf({ price })
  const usage = { ...usageOf(answers[0]!), calls: { search: 3 } }
  const cost = sum(4, 0.4, 20)(answers[0]!) + 3 * 0.0025e12
  const judged = judgePlace([{ request: request({ usage }), statement: statement(text(cost)) }], {
    ...{ currency: currency('USD'), priceOf: () => model, choices: {}, clockErrorMs: 0 },
    twinOf: () => null,
  })
  expect(
    explain(judged, { priceOf: () => model }).explanations.map(({ summary }) => summary),
  ).toContain('search at the price of tool.file_search')
})
