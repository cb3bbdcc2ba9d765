import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ModelPrice } from '../../../src/contract/prices.ts'
import { decimalText, rational, roundTo } from '../../../src/money/rational.ts'
import { calculate } from '../../../src/price/calculate.ts'
import { answerDialects } from '../../../src/tokens/answer-dialects.ts'
import type { DialectName } from '../../../src/tokens/dialects.ts'
import { readUsage } from '../../../src/tokens/read-usage.ts'
import { tries } from '../../nightly/tries.ts'
import { contractWith, gateway, type Json, long, user } from './gateway.ts'

const amount = fc.integer({ min: 0, max: 9999 }).map((units) => units / 100)
const some = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined })
const price = fc.record(
  {
    ...{ input: amount, output: amount, cache_read: amount, cache_write: amount },
    ...{ cache_write_1h: amount, reasoning: amount, request: amount, search: amount },
  },
  { requiredKeys: ['input', 'output'] },
)
const overlay = fc.record(
  { times: fc.constantFrom(0.5, 2, 1.1), price: fc.record({ output: amount }) },
  { requiredKeys: ['times'] },
)
/** Any legal price of a model. */
const anyModel = fc.record({
  price,
  usage: fc.constantFrom(
    ...(['openai-chat', 'deepseek', 'gemini', 'xai-chat', 'openrouter'] as const),
    ...(['litellm', 'moonshot', 'new-api'] as const),
  ),
  tiers: some(
    fc.record({
      count: fc.constantFrom('prompt', 'input'),
      apply: fc.constantFrom('whole', 'marginal'),
      steps: fc
        .record({ input: amount, output: amount })
        .map((own) => [{ above: 1500, price: own }]),
    }),
  ),
  // A contract with service tiers promises nothing about one that it does not name.
  service: fc.record({ flex: overlay, priority: overlay }, { requiredKeys: ['flex'] }),
  hours: fc.constantFrom([], [{ utc: ['00:00-24:00'], times: 2 }]),
  changes: some(fc.record({ output: amount })).map((own) =>
    own === undefined ? [] : [{ from: '2026-01-01T00:00:00Z', price: own }],
  ),
  times: fc.constantFrom(1, 1.05, { group: { default: 1, vip: 0.8 }, margin: 1.1 }),
  round: some(
    fc.record({
      at: fc.constantFrom('request', 'component'),
      digits: fc.integer({ min: 0, max: 8 }),
      mode: fc.constantFrom('half_even', 'half_up', 'up', 'down'),
    }),
  ),
  minimum: some(fc.constantFrom(0.01, 1)),
  served: fc.constant('requested'),
  clock: fc.constantFrom('start', 'end', 'either'),
})

const requests: readonly [object, Record<string, string>][] = [
  [{ messages: user('Hello') }, {}],
  [{ messages: long(2000, 'a'), service_tier: 'flex' }, { 'x-group': 'vip' }],
  [{ messages: long(2000, 'a'), web_search_options: {}, stream: true }, {}],
]

/** The cost by the auditor's calculator, from the answer and the contract. */
function computed(model: ModelPrice, body: Json, sent: object, group: string | undefined): string {
  const { cost, open, unknown } = calculate(
    model,
    readUsage(body.usageMetadata ?? body.usage, model.dialect as DialectName),
    {
      atMs: Date.now(),
      serviceTier: 'service_tier' in sent ? (sent.service_tier as string) : null,
      choices: group === undefined ? {} : { group },
      outcome: 'success',
      counts: 'web_search_options' in sent ? { search: rational(1n) } : {},
    },
  )
  expect([open, unknown]).toEqual([[], []])
  return decimalText(roundTo(cost!, 12, 'half_even'))
}

test('the service and the auditor compute the same cost for any legal contract', async () => {
  let compared = 0
  await fc.assert(
    fc.asyncProperty(anyModel, async (fields) => {
      expect(fields.usage in answerDialects).toBe(true)
      const given = Object.fromEntries(
        Object.entries(fields).filter(([, each]) => each !== undefined),
      )
      const ofModel = { tiers: undefined, ...given }
      if (!('search' in fields.price))
        Object.assign(ofModel, { price: { ...fields.price, search: 1 } })
      const contract = contractWith({}, ofModel)
      const target = await gateway({ contract, accounts: rich })
      for (const [sent, headers] of requests) {
        const { body, logged, spent, status } = await target.ask(sent, { headers })
        expect([status, logged]).toEqual([200, [spent]])
        const model = contract.prices!.models[0]!
        const cost = computed(model, body, sent, headers['x-group'])
        expect(spent).toBeCloseTo(Number(cost), 9)
        compared++
      }
    }),
    { numRuns: tries(40, 200), seed: 7 },
  )
  expect(compared).toBeGreaterThan(100)
})

const rich = ['a', 'b', 'c', 'd'].map((name) => ({ name, balance: 1_000_000 }))
