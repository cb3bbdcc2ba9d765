import fc from 'fast-check'
import { expect, test } from 'vitest'
import { currency } from '../../src/money/money.ts'
import { decimalText } from '../../src/money/rational.ts'
import { type Calculation, calculate } from '../../src/price/calculate.ts'
import { explain } from '../../src/price/judge/explain.ts'
import { judgePlace } from '../../src/price/judge/judge.ts'
import { dialectOf, readWholeUsage } from '../../src/tokens/read-usage.ts'
import { modelOf, request, statement } from './made-requests.ts'

/** What a usage names beside its counts chooses a price, or makes the cost unknown. */

const price = { input: 5, cache_read: 0.5, cache_write: 6.25, output: 25 }
const counts = {
  ...{ input_tokens: 1000, cache_read_input_tokens: 100_000, cache_creation_input_tokens: 0 },
  ...{ output_tokens: 2000, service_tier: 'standard' },
}

function costOf(fields: object, usage: object, others: Readonly<Record<string, object>> = {}) {
  const known: Readonly<Record<string, object>> = { ...others, m: fields }
  const found = calculate(
    modelOf({ usage: 'anthropic', ...fields }),
    readWholeUsage(usage, dialectOf(usage)),
    {
      ...{ atMs: 0, serviceTier: null, choices: {}, outcome: 'success', counts: {} },
      priceOf: (name) => {
        const of = Object.hasOwn(known, name) ? known[name] : undefined
        return of === undefined ? null : { ...modelOf({ usage: 'anthropic', ...of }), id: name }
      },
    },
  )
  return said(found)
}
const said = ({ cost, open, unknown }: Calculation) =>
  cost === null ? [...open, ...unknown].join(', ') : decimalText(cost)

test.each([
  ['speed', 'fast'],
  ['inference_geo', 'us'],
  ['quality', 'hd'],
  ['is_byok', true],
  ['trafficType', 'PROVISIONED_THROUGHPUT'],
  ['constructor', 'x'],
])(
  'usage.%s %s makes the cost unknown by its name, until the contract prices it',
  (field, value) => {
    const usage = { ...counts, [field]: value }
    expect(costOf({ price }, usage)).toBe(`usage.${field} ${value}`)
    const by = { [field]: { [String(value)]: { times: 1.1 } } }
    expect(costOf({ price, by }, usage)).toBe('0.1155')
    expect(costOf({ price, by: { [field]: { any: { times: 3 } } } }, usage)).toBe('0.315')
    expect(costOf({ price, by: { [field]: { other: { times: 3 } } } }, usage)).toBe(
      `usage.${field} ${value}`,
    )
  },
)

test('a name within a part of the usage chooses a price, too, and so does a number', () => {
  const usage = { ...counts, details: { latency: 'optimized' }, level: 3 }
  expect(costOf({ price }, usage)).toBe('usage.details.latency optimized')
  const by = { 'details.latency': { optimized: { times: 2 } }, level: { '3': { times: 1.1 } } }
  expect(costOf({ price, by }, usage)).toBe('0.231')
})

test('two names choose together, each may replace a price, and the usual values choose nothing', () => {
  const by = {
    speed: { fast: { times: 2 } },
    inference_geo: { us: { times: 1.1 } },
    quality: { hd: { price: { output: 50 } } },
  }
  const of = (names: object) => costOf({ price, by }, { ...counts, ...names })
  expect(of({ speed: 'standard', inference_geo: 'us' })).toBe('0.1155')
  expect(of({ speed: 'fast', inference_geo: 'us' })).toBe('0.231')
  expect(of({ quality: 'hd' })).toBe('0.155')
  for (const usual of ['standard', 'global', 'not_available', 'ON_DEMAND', null, false])
    expect(of({ speed: usual, inference_geo: usual })).toBe('0.105')
  expect(of({ usage_semantic: 'anthropic', id: 'x', cost: '0.5', cost_usd: 0.5 })).toBe('0.105')
})

test('a tier of the service that no contract prices is open, whether or not it has tiers', () => {
  const of = (tier: string, fields: object = {}) =>
    said(
      calculate(modelOf({ price, ...fields }), readWholeUsage(counts, 'anthropic'), {
        ...{ atMs: 0, serviceTier: tier, choices: {}, outcome: 'success', counts: {} },
      }),
    )
  expect(of('flex')).toBe('service tier flex')
  expect(of('constructor')).toBe('service tier constructor')
  expect(of('on_demand')).toBe('0.105')
  expect(of('flex', { service: { flex: { times: 2 } } })).toBe('0.21')
})

test('calls that a usage counts and no contract prices make the cost unknown', () => {
  const of = (fields: object, made: object) =>
    costOf({ price: { ...price, ...fields } }, { ...counts, server_tool_use: made })
  const searched = { web_search_requests: 2, web_fetch_requests: 0 }
  expect(of({}, searched)).toBe('a price of search')
  expect(of({}, { web_search_requests: 0 })).toBe('0.105')
  expect(of({ search: { price: 10, per: 1000 } }, searched)).toBe('0.125')
  expect(of({ search: 0 }, searched)).toBe('0.105')
  expect(of({}, { bash_requests: 1 })).toBe('a price of tool.bash')
  expect(of({ 'tool.bash': 0 }, { bash_requests: 1 })).toBe('0.105')
  // A price of each request is one of all that it holds.
  expect(of({ request: 0.01 }, searched)).toBe('0.115')
})

const compacted = {
  ...{ input_tokens: 23_000, output_tokens: 1000 },
  iterations: [
    { type: 'compaction', input_tokens: 180_000, output_tokens: 3500 },
    { type: 'message', input_tokens: 23_000, output_tokens: 1000 },
  ],
}
const sonnet = { price: { input: 3, output: 15, request: 0.01 } }

test('an answer of several passes costs their sum, each in its own tier, and the request once', () => {
  expect(costOf({ price: { input: 3, output: 15 } }, compacted)).toBe('0.6765')
  expect(costOf(sonnet, compacted)).toBe('0.6865')
  const tiers = { steps: [{ above: 100_000, price: { input: 6, output: 30 } }] }
  // Together, both passes are above the threshold: 2 x (0.54 + 0.0525), and 0.069 + 0.015.
  expect(costOf({ price: { input: 3, output: 15 }, tiers }, compacted)).toBe('1.269')
  const round = { at: 'request', digits: 2, mode: 'up' }
  expect(costOf({ price: { input: 3, output: 15 }, round }, compacted)).toBe('0.68')
})

test('a pass of another model has the price of that model, or the cost is unknown by its name', () => {
  const usage = {
    ...{ input_tokens: 100, output_tokens: 200 },
    iterations: [
      { type: 'message', model: 'm', input_tokens: 100, output_tokens: 200 },
      { type: 'advisor_message', model: 'opus', input_tokens: 1000, output_tokens: 10 },
    ],
  }
  const opus = { price: { input: 15, output: 75 } }
  expect(costOf(sonnet, usage, { opus })).toBe('0.02905')
  expect(costOf(sonnet, usage)).toBe('a price of opus')
})

test('an attempt that gave way to another model costs what the contract says of inner attempts', () => {
  const usage = {
    ...{ input_tokens: 100, output_tokens: 200 },
    iterations: [
      { type: 'message', model: 'm', input_tokens: 1000, output_tokens: 0 },
      { type: 'fallback_message', model: 'small', input_tokens: 100, output_tokens: 200 },
    ],
  }
  const small = { price: { input: 1, output: 5 } }
  const own = { price: { input: 3, output: 15 } }
  const of = (inner_attempt: string) =>
    costOf({ ...own, charged: { inner_attempt } }, usage, { small })
  expect(of('full')).toBe('0.0041')
  expect(of('none')).toBe('0.0011')
  expect(of('open')).toBe('charged.inner_attempt (usage.iterations 1)')
})

test('passes without counts, and lists of counts that nobody knows, make the cost unknown', () => {
  const two = [{ type: 'message' }, { type: 'compaction' }]
  expect(costOf(sonnet, { ...counts, iterations: two })).toBe(
    'usage.iterations 1 counts, usage.iterations 2 counts',
  )
  expect(costOf(sonnet, { ...counts, attempts: [{ input_tokens: 5, output_tokens: 1 }] })).toBe(
    'usage.attempts',
  )
  // One pass that says no more than the whole is no second reading.
  expect(costOf({ price }, { ...counts, iterations: [{ type: 'message' }] })).toBe('0.105')
  expect(costOf({ price }, { ...counts, iterations: [{ ...counts, type: 'message' }] })).toBe(
    '0.105',
  )
})

test('of any passes, the cost is the sum of the costs of their usages alone', () => {
  const count = fc.integer({ min: 0, max: 300_000 })
  const pass = fc.record({
    input_tokens: count,
    output_tokens: count,
    cache_read_input_tokens: count,
  })
  const fields = { price: { input: 3, cache_read: 0.3, output: 15 } }
  fc.assert(
    fc.property(fc.array(pass, { minLength: 2, maxLength: 5 }), (passes) => {
      const iterations = passes.map((each) => ({ type: 'message', ...each }))
      const pico = (each: (typeof passes)[number]) =>
        30n * BigInt(each.input_tokens) +
        3n * BigInt(each.cache_read_input_tokens) +
        150n * BigInt(each.output_tokens)
      const sum = passes.map(pico).reduce((a, b) => a + b, 0n)
      const text = costOf(fields, { ...passes.at(-1)!, iterations })
      expect(BigInt(Math.round(Number(text) * 1e7))).toBe(sum)
    }),
    { numRuns: 50 },
  )
})

test('a charge of the counts at the top alone, and one without the name, are told', () => {
  const told = (fields: object, usage: object, cost: string) => {
    const model = modelOf({ usage: 'anthropic', ...fields })
    const judged = judgePlace(
      [
        {
          request: request({ usage: readWholeUsage(usage, 'anthropic') }),
          statement: statement(cost),
        },
      ],
      {
        ...{ currency: currency('USD'), priceOf: () => model, choices: {}, clockErrorMs: 0 },
        twinOf: () => null,
      },
    )
    return explain(judged, { priceOf: () => model }).explanations.map(({ summary }) => summary)
  }
  expect(told({ price: { input: 3, output: 15 } }, compacted, '0.084')).toEqual([
    'only the counts at the top of the usage, without those of its passes',
  ])
  const by = { speed: { fast: { times: 2 } } }
  expect(told({ price, by }, { ...counts, speed: 'fast' }, '0.105')).toContain(
    'usage.speed ignored',
  )
})
