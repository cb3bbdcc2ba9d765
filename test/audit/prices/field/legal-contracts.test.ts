import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseContract } from '../../../../src/contract/load.ts'
import { charges, tokenPriceNames } from '../../../../src/contract/prices.ts'
import { roundings } from '../../../../src/money/rational.ts'
import { completed } from '../../../../src/service/money/complete.ts'
import { gateway, long, user } from '../../../service/money/gateway.ts'
import { RecordedClient } from './recorded-client.ts'

/** Few by day, 200 by night. */
const numRuns = process.env.NIGHTLY === undefined ? 6 : 200

/** A decimal as people write prices: 0, 3, 0.15, 0.000125. */
const decimal = fc
  .tuple(fc.integer({ min: 0, max: 999_999 }), fc.integer({ min: 0, max: 6 }))
  .map(([whole, digits]) => String(whole / 10 ** digits))
  .filter((text) => !text.includes('e'))
const factor = fc.constantFrom('0.5', '0.8', '1', '1.1', '1.25', '2', '0')

const priceOf = (least: number) =>
  fc
    .tuple(
      fc.subarray(
        tokenPriceNames.filter((name) => name !== 'input' && name !== 'output'),
        { minLength: least },
      ),
      fc.array(decimal, { minLength: 12, maxLength: 12 }),
      fc.option(decimal),
    )
    .map(([names, prices, request]) => ({
      ...Object.fromEntries(names.map((name, at) => [name, prices[at + 2]!])),
      ...{ input: prices[0]!, output: prices[1]! },
      ...(request === null ? {} : { request }),
    }))

const overlay = fc.oneof(
  factor.map((times) => ({ times })),
  priceOf(0).map((price) => ({ price })),
)
const maybe = <Value>(field: string, arbitrary: fc.Arbitrary<Value>) =>
  fc.option(arbitrary).map((value) => (value === null ? {} : { [field]: value }))
const all = (...parts: fc.Arbitrary<object>[]) =>
  fc.tuple(...parts).map((found) => Object.assign({}, ...found) as object)

const tiers = fc
  .record({
    count: fc.constantFrom('prompt', 'input'),
    apply: fc.constantFrom('whole', 'marginal'),
    thresholds: fc.uniqueArray(fc.integer({ min: 1, max: 4000 }), { minLength: 1, maxLength: 3 }),
    prices: fc.array(priceOf(0), { minLength: 3, maxLength: 3 }),
  })
  .map(({ count, apply, thresholds, prices }) => ({
    ...{ count, apply },
    steps: thresholds.sort((a, b) => a - b).map((above, at) => ({ above, price: prices[at]! })),
  }))

const legalModel = all(
  fc.record({ price: priceOf(0) }),
  maybe('tiers', tiers),
  maybe('service', fc.record({ flex: overlay, batch: overlay })),
  maybe(
    'hours',
    overlay.map((each) => [{ utc: ['00:00-24:00'], ...each }]),
  ),
  maybe(
    'changes',
    overlay.map((each) => [{ from: '2026-01-01T00:00:00Z', ...each }]),
  ),
  maybe('times', fc.record({ group: fc.record({ default: factor, vip: factor }) })),
  maybe(
    'round',
    fc.record({
      at: fc.constantFrom('request', 'component'),
      digits: fc.integer({ min: 2, max: 9 }),
      mode: fc.constantFrom(...roundings),
    }),
  ),
  maybe('minimum', decimal),
  fc.record({
    charged: all(
      fc.record({ success: fc.constant('full') }),
      maybe('empty', fc.constantFrom(...charges)),
      maybe('filtered', fc.constantFrom(...charges)),
      maybe('broken', fc.constantFrom(...charges)),
    ),
  }),
)

const evidence = fc
  .record({
    cost: fc.constantFrom(
      [],
      [{ header: 'x-cost' }],
      [{ header: 'x-cost' }, { body: 'usage.cost' }],
    ),
    balance: fc.boolean(),
    log: fc.boolean(),
  })
  .map(({ cost, balance, log }) => ({
    ...(cost.length > 0 ? { cost } : {}),
    ...(balance ? { balance: { get: '/key/info', value: 'info.spend', moves: 'up' } } : {}),
    ...(log
      ? { log: { get: '/spend/logs?request_id={response.id}', id: 'request_id', cost: 'spend' } }
      : {}),
  }))

const hello = { messages: user('Hello') }
const repeated = { messages: long(2000, 'a') }
const bodies = [
  hello,
  { ...hello, stream: true },
  repeated,
  repeated,
  { ...repeated, stream: true },
  { ...hello, service_tier: 'flex' },
  { messages: long(4000, 'b'), service_tier: 'batch' },
  { ...hello, model: 'big-latest' },
  { messages: user('Please say nothing') },
  { messages: user('Please hold it back') },
  { messages: user('Please break off'), stream: true },
]

test('an honest service raises no alarm, whatever legal contract it bills by', async () => {
  await fc.assert(
    fc.asyncProperty(legalModel, evidence, async (model, where) => {
      const contract = completed(
        parseContract(
          {
            ...{ extends: 'none', name: 'gateway', currency: 'USD', evidence: where },
            models: [
              { id: 'big', aliases: ['big-latest'], served: 'any', reasoning: true, ...model },
            ],
          },
          'gateway.yaml',
        ),
      )
      const target = await gateway({ contract })
      const client = new RecordedClient(target.baseUrl, target.key)
      const readsSpend = 'balance' in where
      if (readsSpend) await client.read('/key/info')
      for (const body of bodies) {
        await client.ask(body)
        await client.ask(body, { path: '/v1/messages' })
      }
      if (readsSpend) await client.read('/key/info')
      const findings = await client.audit(contract, 'log' in where ? await target.rows() : null)
      expect(
        findings.flatMap(({ rule, severity, verdict }) =>
          verdict.verdict === 'fail' && severity !== 'advice' ? [[rule, verdict.observed]] : [],
        ),
      ).toEqual([])
    }),
    { numRuns },
  )
}, 1_800_000)
