import { expect, test } from 'vitest'
import { type ChargedOutcome, chargedOutcomes } from '../../src/contract/prices.ts'
import { decimalText, readNumber } from '../../src/money/rational.ts'
import { calculate, type PriceContext } from '../../src/price/calculate.ts'
import { readUsage } from '../../src/tokens/read-usage.ts'
import {
  furtherVectors,
  type PriceVector,
  priceVectors,
} from '../contract/price-vectors/vectors.ts'
import { modelOf } from './made-requests.ts'

const usual: PriceContext = {
  atMs: Date.parse('2026-11-25T12:00:00Z'),
  serviceTier: null,
  choices: {},
  outcome: 'success',
  counts: {},
}

function contextOf({ context = {} }: PriceVector): PriceContext {
  const { at, service_tier, group, outcome, counts, ...rest } = context
  expect(rest).toEqual({})
  return {
    ...usual,
    ...(at === undefined ? {} : { atMs: Date.parse(at as string) }),
    serviceTier: (service_tier as string) ?? null,
    choices: group === undefined ? {} : { group: group as string },
    outcome: chargedOutcomes.find((one) => one === outcome) ?? ('success' as ChargedOutcome),
    counts: Object.fromEntries(
      Object.entries((counts as object) ?? {}).map(([name, count]) => [
        name,
        readNumber(String(count))!,
      ]),
    ),
  }
}

test('all price vectors cost what they must, to the last digit', () => {
  for (const vector of [...priceVectors, ...furtherVectors]) {
    const { id: _, usage, aliases, ...fields } = vector.model
    const model = modelOf({ usage, ...fields }, vector.unit)
    const found = calculate(model, readUsage(vector.usage, usage), contextOf(vector))
    expect([vector.id, found.cost === null ? found : decimalText(found.cost)]).toEqual([
      vector.id,
      vector.cost,
    ])
  }
})

/** The cost of a usage in the chat dialect, or what it needs. */
function costOf(
  fields: Readonly<Record<string, unknown>>,
  usage: { input: number; read?: number; output: number; audio?: number },
  context: Partial<PriceContext> = {},
): string {
  const found = calculate(
    modelOf(fields),
    readUsage(
      {
        prompt_tokens: usage.input,
        completion_tokens: usage.output,
        prompt_tokens_details: { cached_tokens: usage.read ?? 0, audio_tokens: usage.audio ?? 0 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
      'openai-chat',
    ),
    { ...usual, ...context },
  )
  if (found.cost !== null) return decimalText(found.cost)
  return `open ${found.open.join()} unknown ${found.unknown.join()}`
}
const at = (text: string) => ({ atMs: Date.parse(text) })

test('a part without a price costs its parent, and an open price promises nothing', () => {
  const usage = { input: 1_000_000, read: 400_000, output: 0 }
  expect(costOf({ price: { input: 3, output: 1 } }, usage)).toBe('3')
  expect(costOf({ price: { input: 3, cache_read: 'open', output: 1 } }, usage)).toBe(
    'open cache_read unknown ',
  )
  expect(
    costOf({ price: { input: 3, cache_read: 'open', output: 1 } }, { ...usage, read: 0 }),
  ).toBe('3')
})

test('a price may be for any number of tokens, and for a least count in steps', () => {
  const one = { input: 1, output: 0 }
  const price = (entry: object) => ({ price: { input: 0, output: 0, second: entry } })
  const seconds = (text: string) => ({ counts: { second: readNumber(text)! } })
  expect(costOf({ price: { input: { price: 2, per: 1000 }, output: 0 } }, one)).toBe('0.002')
  expect(costOf(price({ price: 6, per: 60 }), one, seconds('20'))).toBe('2')
  expect(costOf(price({ price: 1, minimum: 15 }), one, seconds('2.5'))).toBe('15')
  expect(costOf(price({ price: 1, step: 6 }), one, seconds('12.1'))).toBe('18')
  expect(costOf(price({ price: 1 }), one)).toBe('open  unknown second count')
})

test('a price per request is charged once, and each call of a tool has its own', () => {
  const fields = { price: { request: 0.02, search: 0.01, 'tool.file_search': 0.0025 } }
  expect(costOf(fields, { input: 9, output: 9 })).toBe('0.02')
  expect(
    costOf(
      fields,
      { input: 9, output: 9 },
      { counts: { search: readNumber('3')!, 'tool.file_search': readNumber('2')! } },
    ),
  ).toBe('0.055')
})

test('a tier begins above its count or at it, keeps what it does not write, and may count input only', () => {
  const tiers = (step: object, more: object = {}) => ({
    price: { input: 1, cache_read: 0.5, output: 2 },
    tiers: { steps: [step], ...more },
  })
  const usage = { input: 1_000_000, read: 600_000, output: 0 }
  expect(costOf(tiers({ above: 1_000_000, price: { input: 2 } }), usage)).toBe('0.7')
  expect(costOf(tiers({ from: 1_000_000, price: { input: 2 } }), usage)).toBe('1.1')
  expect(costOf(tiers({ from: 1_000_000, times: 2 }), usage)).toBe('1.4')
  expect(costOf(tiers({ from: 500_000, times: 2 }, { count: 'input' }), usage)).toBe('0.7')
})

test('marginal tiers cut each part by its own count', () => {
  const fields = {
    price: { input: 1, output: 10 },
    tiers: {
      apply: 'marginal',
      steps: [
        { above: 1_000_000, price: { input: 2, output: 20 } },
        { from: 3_000_001, price: { input: 4 } },
      ],
    },
  }
  expect(costOf(fields, { input: 4_000_000, output: 1_500_000 })).toBe('29')
})

test('service tiers and hours multiply tiers, too', () => {
  const fields = {
    price: { input: 1, output: 0 },
    tiers: { steps: [{ above: 10, price: { input: 3 } }] },
    service: { batch: { times: 0.5 }, priority: { price: { input: 5 } } },
    hours: [{ days: ['sat', 'sun'], times: 4 }],
  }
  const big = { input: 1_000_000, output: 0 }
  expect(costOf(fields, big, { serviceTier: 'batch' })).toBe('1.5')
  expect(costOf(fields, big, { serviceTier: 'default' })).toBe('3')
  expect(costOf(fields, big, { serviceTier: 'turbo' })).toBe('open service tier turbo unknown ')
  expect(costOf(fields, big, at('2026-11-28T00:00:00Z'))).toBe('12')
  expect(costOf(fields, { input: 10, output: 0 }, { serviceTier: 'priority' })).toBe('0.00005')
})

test('hours begin with their first minute, end before their last, and spare excepted days', () => {
  const fields = {
    price: { input: 1, output: 0 },
    hours: [
      { days: ['thu'], except: ['2026-11-12'], utc: ['06:00-10:00', '22:00-02:00'], times: 2 },
    ],
  }
  const cost = (text: string) => costOf(fields, { input: 1_000_000, output: 0 }, at(text))
  expect(cost('2026-11-26T05:59:59.999Z')).toBe('1')
  expect(cost('2026-11-26T06:00:00Z')).toBe('2')
  expect(cost('2026-11-26T09:59:59.999Z')).toBe('2')
  expect(cost('2026-11-26T10:00:00Z')).toBe('1')
  // A window past midnight belongs to the day on which it begins.
  expect(cost('2026-11-26T23:00:00Z')).toBe('2')
  expect(cost('2026-11-27T01:59:00Z')).toBe('2')
  expect(cost('2026-11-26T01:00:00Z')).toBe('1')
  expect(cost('2026-11-12T06:00:00Z')).toBe('1')
})

test('changes hold from their moment on, each over the one before', () => {
  const fields = {
    price: { input: 1, output: 1 },
    changes: [
      { from: '2026-12-01T00:00:00Z', price: { input: 3 } },
      { from: '2026-06-01T00:00:00+02:00', price: { output: 2 } },
    ],
  }
  const cost = (text: string) => costOf(fields, { input: 1_000_000, output: 1_000_000 }, at(text))
  expect(cost('2026-05-31T21:59:59Z')).toBe('2')
  expect(cost('2026-05-31T22:00:00Z')).toBe('3')
  expect(cost('2026-12-01T00:00:00Z')).toBe('5')
})

test('factors multiply the sum, and a choice that nothing states is unknown', () => {
  const fields = (factor: unknown) => ({ price: { input: 1, output: 0 }, times: factor })
  const usage = { input: 1_000_000, output: 0 }
  expect(costOf(fields(1.1), usage)).toBe('1.1')
  expect(costOf(fields({ margin: 1.1, region: { default: 1, us: 2 } }), usage)).toBe('1.1')
  expect(
    costOf(fields({ margin: 1.1, region: { default: 1, us: 2 } }), usage, {
      choices: { region: 'us' },
    }),
  ).toBe('2.2')
  expect(costOf(fields({ group: { vip: 0.8 } }), usage)).toBe('open  unknown group')
})

test('new-api ratios multiply the ratio of the model', () => {
  const fields = {
    ratios: { model: 2, completion: 3, cache_read: 0.5, audio: 4, audio_completion: 2, image: 5 },
  }
  expect(costOf(fields, { input: 10, read: 4, output: 1 })).toBe('22')
  expect(costOf(fields, { input: 10, audio: 1, output: 0 })).toBe('26')
})

test('a charge follows the outcome', () => {
  const fields = {
    price: { input: 1, output: 1 },
    charged: { abort: 'received', refused: 'none', filtered: 'input' },
  }
  const cost = (outcome: ChargedOutcome) =>
    costOf(fields, { input: 1_000_000, output: 2_000_000 }, { outcome })
  expect(cost('success')).toBe('3')
  expect(cost('abort')).toBe('3')
  expect(cost('refused')).toBe('0')
  expect(cost('filtered')).toBe('1')
  expect(cost('broken')).toBe('open charged.broken unknown ')
})

test('rounding is exact, by request or by part, and the smallest charge comes last', () => {
  const fields = (round: object, more: object = {}) => ({
    price: { input: '1/3', output: '1/3' },
    round,
    ...more,
  })
  const usage = { input: 10_000, output: 10_000 }
  expect(costOf(fields({ digits: 3, mode: 'half_up' }), usage)).toBe('0.007')
  expect(costOf(fields({ at: 'component', digits: 3, mode: 'up' }), usage)).toBe('0.008')
  expect(costOf(fields({ digits: 1, mode: 'down' }, { minimum: 0.05 }), usage)).toBe('0.05')
})

test('usage without a count leaves the cost unknown, if the count has a price', () => {
  const found = (price: object, usage: object) => {
    const { cost, unknown, assumed } = calculate(
      modelOf({ price }),
      readUsage(usage, 'openai-chat'),
      usual,
    )
    return { cost: cost === null ? null : decimalText(cost), unknown, assumed }
  }
  expect(found({ input: 1, output: 1 }, { prompt_tokens: 5 })).toEqual({
    cost: null,
    unknown: ['output tokens'],
    assumed: [],
  })
  expect(found({ input: 1, output: 0 }, { prompt_tokens: 5 }).cost).toBe('0.000005')
  expect(found({ request: 3 }, {}).cost).toBe('3')
  // What is not reported is counted in its parent, and a cost that depends on it says so.
  expect(
    found({ input: 1, cache_read: 0.1, output: 1 }, { prompt_tokens: 5, completion_tokens: 0 }),
  ).toEqual({ cost: '0.000005', unknown: [], assumed: ['cache_read'] })
  // A price of output that nobody wrote is no promise.
  expect(
    calculate(
      modelOf({ price: { input: 1 } }),
      readUsage({ prompt_tokens: 5, completion_tokens: 1 }, 'openai-chat'),
      usual,
    ).open,
  ).toEqual(['output'])
})
