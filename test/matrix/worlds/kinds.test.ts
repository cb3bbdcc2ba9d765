import { describe, expect, test } from 'vitest'
import { outcomeOf, wordsOf } from './outcome.ts'
import type { Terms } from './terms.ts'
import { type Conduct, drawFaulty, drawHonest, type Width, type World } from './world.ts'

/** The kinds of worlds that a search found, each with as few requests as show it. */

const ask: World['asks'][number] = {
  ...{ nth: 0, at: 1, seconds: 1, model: 'big', prompt: 'a', dialect: 'chat', isStream: false },
  counts: {
    input: 1000,
    cache_read: 0,
    cache_write: 0,
    cache_write_1h: 0,
    output: 40,
    reasoning: 0,
  },
  ...{ maySearch: false, searches: 0, ended: 'ok', received: 0, generated: 0, isFlex: false },
  ...{ account: 'main', repeats: null, isStruck: false },
}
const model: Terms['models'][number] = {
  ...{
    id: 'big',
    alias: null,
    prices: { input: '2.5', output: '10' },
    request: null,
    search: null,
  },
  ...{ tier: null, flex: null, hours: null, change: null, margin: null, group: null },
  ...{ round: null, minimum: null },
}
const terms: Terms = {
  ...{ currency: 'USD', digits: 12, startMs: Date.UTC(2026, 10, 1), models: [model], isVip: false },
  charged: {
    ...{ refused: 'none', broken: 'none', abort: 'received', empty: 'none', filtered: 'none' },
    gateway_cache: 'open',
  },
  ...{ cost: null, log: true, balance: null },
}
const honest: World = {
  ...{
    seed: 0,
    terms,
    asks: [ask],
    conduct: new Set(),
    fault: null,
    isCaptured: true,
    readEvery: 1,
  },
}
const asks = (...changes: readonly Partial<World['asks'][number]>[]) =>
  changes.map((change, nth) => ({ ...ask, nth, at: 1 + 10 * nth, ...change }))

const page = { balance: { at: 'page', moves: 'down', withinS: 0 } } as const
const doing = (...conduct: readonly Conduct[]) => ({ conduct: new Set(conduct) })

/** What fails in an honest world. */
async function alarms(change: Partial<Omit<World, 'terms'>>, ofTerms: Partial<Terms> = {}) {
  const { findings } = await outcomeOf({ ...honest, ...change, terms: { ...terms, ...ofTerms } })
  return findings
    .filter(({ verdict }) => verdict.verdict === 'fail')
    .map((finding) => [finding.rule, wordsOf(finding)])
}

const charged = (change: Partial<Terms['charged']>) => ({
  charged: { ...terms.charged, ...change },
})
describe('an honest service is not failed', () => {
  test('where a messages stream is left, whose first event has an output count of its own', async () => {
    const left = {
      dialect: 'messages',
      isStream: true,
      ended: 'abort',
      received: 5,
      generated: 6,
    } as const
    expect(
      await alarms({ asks: asks({ dialect: 'messages' }, left) }, charged({ abort: 'full' })),
    ).toEqual([])
  })

  test('where it searched, and the answer was not stored', async () => {
    const searched = { maySearch: true, searches: 2 }
    const models = [{ ...model, search: '0.01' }]
    expect(await alarms({ asks: asks(searched, searched), isCaptured: false }, { models })).toEqual(
      [],
    )
  })

  test('where its answers show fewer decimals than its costs have', async () => {
    const prices = { input: '2.5017', output: '10' }
    const short = { cost: 'header', models: [{ ...model, prices }] } as const
    expect(await alarms({ asks: asks({}, {}, {}, {}), ...doing('short costs') }, short)).toEqual([])
  })

  test('where somebody adds to the balance between two reads', async () => {
    const four = { asks: asks({}, {}, {}, {}) }
    expect(await alarms({ ...four, ...doing('topped up') }, page)).toEqual([])
  })

  test('where its log rounds a cost that the contract leaves between bounds, and the balance does not', async () => {
    const left = { isStream: true, ended: 'abort', received: 30, generated: 33 } as const
    const models = [{ ...model, prices: { input: '2.5017', output: '10.0003' } }]
    const short = { asks: asks({ isStream: true }, left, {}), ...doing('short costs') }
    expect(await alarms(short, { ...page, models })).toEqual([])
  })

  test.each(['none', 'full'] as const)(
    'where it answers again with the same id, for a charge of %s, which the contract leaves open',
    async (charge) => {
      const again = { ended: 'gateway_cache', repeats: 0, at: 200 } as const
      const free = charge === 'none' ? { isStruck: true } : {}
      const fault: World['fault'] = {
        ...{ name: 'free', family: 'replayed', needs: [], cause: /./, about: [] },
        ...{ places: ['answer', 'log', 'balance'], twist: { charge }, strikes: () => true },
      }
      const world = { asks: asks({}, { ...again, ...free }, { at: 300 }), fault }
      expect(await alarms(world, { ...page, cost: 'header' })).toEqual([])
    },
  )

  test('where it answers again for nothing, and its log has a row for each attempt', async () => {
    const again = { ended: 'gateway_cache', repeats: 0 } as const
    const world = { asks: asks({}, again, {}), ...doing('rows of attempts') }
    expect(await alarms(world, charged({ gateway_cache: 'none' }))).toEqual([])
  })
})

test.each([
  ['a value beside others that is older than a payment that was read before it', drawHonest, 110],
  ['a value beside others that is older than a payment that was read before it', drawHonest, 730],
  ['an answer that was left and is longer than that of an equal request', drawHonest, 297],
  ['a balance that is right where the log is wrong about an open cost', drawFaulty, 77],
  ['a balance that is right where the log is wrong about an open cost', drawFaulty, 292],
  ['a balance that is right where the log is wrong about an open cost', drawFaulty, 161],
  ['a balance that is right where the log is wrong about an open cost', drawFaulty, 536],
  ['an older value than a payment, beside a fault of the log', drawFaulty, 503],
  ['a balance that shows fewer places than an earlier charge had', drawFaulty, 2008, 'wide'],
  ['the head of a stream, older than a payment before which it came', drawHonest, 7012, 'wide'],
  ['an answer of a fallback model that reads a cache of the first one', drawHonest, 116, 'wide'],
  ['a charge of a hundred times, but for a balance below 0', drawFaulty, 20128, 'wide'],
] as const)(
  '%s is accused of nothing (seed %#)',
  { tags: 'whole' },
  async (_, draw, seed, width?: Width) => {
    const { wrongly } = await outcomeOf(draw(seed, width))
    expect(wrongly).toEqual([])
  },
)

test.each([
  ['what is taken without a request', 1, /0\.5 USD taken without a request/],
  ['a charge that is given back twice', 15, /given back twice \(only these requests\)/],
  ['a tier in the headers of requests that follow each other', 28, /the tier counts input without/],
  ['one free request of several between two values', 36, /stretches are wrong: free \(only these/],
  ['a price at another number', 126, /output at 1\.1 times its price/],
  ['a wrong form of requests beside others', 276, /charged twice \(of streams\)/],
] as const)('a balance names %s (seed %#)', { tags: 'whole' }, async (_, seed, words) => {
  const { findings } = await outcomeOf(drawFaulty(seed))
  expect(wordsOf(findings.find(({ rule }) => rule === 'PRICE-06')!)).toMatch(words)
})

test.each([
  [
    'a value that is late names the change that gives one set of the requests before it',
    ...['PRICE-06', 134, /stretches are wrong: input counted twice \(only these requests\)/],
  ],
  [
    'a charge at twice its amount is named where the next request overlaps it',
    ...['PRICE-06', 183, /charged twice \(only these requests\)/],
  ],
  [
    'a balance names the one way to end that costs nothing and was charged',
    ...['PRICE-06', 146, /left before the end were charged, which cost nothing/],
  ],
  [
    'a log names the tokens that were charged for a stream beyond what arrived',
    ...['PRICE-04', 116, /charged in full: 39 tokens of output, where 11 pieces of text came/],
  ],
] as [string, string, number, RegExp][])(
  '%s (seed %#)',
  { tags: 'whole' },
  async (_, rule, seed, words) => {
    const { findings } = await outcomeOf(drawFaulty(seed, 'wide'))
    expect(wordsOf(findings.find((finding) => finding.rule === rule)!)).toMatch(words)
  },
)

test('a row that is missing is told where answers of the cache cost as much as others, and none was stored', async () => {
  expect((await outcomeOf(drawFaulty(239))).is).toBe('by cause')
})

test('one coarse sum of several requests accuses no price of some form of them', async () => {
  const { findings } = await outcomeOf(drawFaulty(20024))
  const { verdict } = findings.find(({ rule }) => rule === 'PRICE-06')!
  expect(verdict).toMatchObject({
    verdict: 'fail',
    observed: '0.109698 USD between two readings; 1 of 1 stretches are wrong',
  })
})

test('a factor of 1 by choice is no other cause than the factor left out, so the second one is told, too', async () => {
  expect((await outcomeOf(drawFaulty(20071, 'wide'))).is).toBe('by cause')
})

test('a value that is round in one account is as exact as those of the others', {
  tags: 'whole',
}, async () => {
  const { findings } = await outcomeOf(drawFaulty(327))
  expect(findings.find(({ rule }) => rule === 'PRICE-06')!.verdict).toMatchObject({
    verdict: 'fail',
  })
})
