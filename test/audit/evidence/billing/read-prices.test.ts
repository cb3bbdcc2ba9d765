import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type InferredReadPrices,
  type Mark,
  type ReadPrices,
  readPricesOf,
} from '../../../../src/audit/evidence/billing/read-prices.ts'
import { type HistoryRow, historyOf } from './made-history.ts'

type Asked = 'models' | 'credits' | 'chat' | 'failure'

interface Service {
  readonly prices: ReadPrices
  /** Whether failures show the balance. */
  readonly failuresShow: boolean
  readonly modelsShow: boolean
  /** Credits taken wrongly with the request of this index. */
  readonly wrong?: Readonly<Record<number, number>>
}

/** Sequential requests to a service that shows the balance after its own charge. */
function inferred(asked: readonly Asked[], service: Service): ReadPrices | InferredReadPrices {
  let balance = 1000
  const marks: (Mark | undefined)[] = []
  const rows = asked.map((what, slot): HistoryRow => {
    const cost = what === 'chat' ? 1 : what === 'failure' ? 0 : service.prices[what]
    balance -= cost + (service.wrong?.[slot] ?? 0)
    marks.push(what === 'models' || what === 'credits' ? what : undefined)
    const shows =
      what === 'failure' ? service.failuresShow : what === 'models' ? service.modelsShow : true
    return {
      slot,
      callUs: slot * 1000,
      readUs: slot * 1000 + 500,
      endUs: slot * 1000 + 600,
      effect: what === 'chat' ? 'charge' : what === 'failure' ? 'failure' : 'read',
      costCredits: what === 'chat' ? 1 : 0,
      ...(shows ? { value: balance } : {}),
    }
  })
  const { prices, open } = readPricesOf([historyOf(rows)], (_, row) => marks[row])
  return open.length === 0 ? prices : { prices, open }
}

const prices = fc.constantFrom<ReadPrices>(
  { models: 0, credits: 0 },
  { models: 1, credits: 0 },
  { models: 0, credits: 1 },
  { models: 1, credits: 1 },
)

test('the price of reads is found whatever requests come between them and whatever failures show', () => {
  fc.assert(
    fc.property(
      prices,
      fc.boolean(),
      fc.boolean(),
      fc.array(fc.constantFrom<Asked>('models', 'credits', 'chat', 'failure'), { maxLength: 40 }),
      (truth, failuresShow, modelsShow, between) => {
        // A read of the balance at both ends, and one of each kind in a stretch of its own.
        const asked: Asked[] = ['credits', 'credits', 'models', 'credits', ...between, 'credits']
        expect(inferred(asked, { prices: truth, failuresShow, modelsShow })).toEqual(truth)
      },
    ),
    { numRuns: 500 },
  )
})

test('one stretch with a read and a failure that shows no balance is enough to find the price', () => {
  const service = { failuresShow: false, modelsShow: true }
  for (const credits of [0, 1]) {
    const truth = { models: 0, credits }
    expect(inferred(['credits', 'failure', 'credits'], { ...service, prices: truth })).toEqual(
      truth,
    )
  }
})

test('one wrong charge among free reads does not set a price', () => {
  const asked: Asked[] = ['credits', 'credits', 'chat', 'credits', 'models', 'models', 'credits']
  for (const slot of asked.keys()) {
    const service: Service = {
      prices: { models: 0, credits: 0 },
      failuresShow: true,
      modelsShow: true,
      wrong: { [slot]: 1 },
    }
    expect(inferred(asked, service)).toEqual({ models: 0, credits: 0 })
  }
})

const shown = { failuresShow: true, modelsShow: true }
const reads = (count: number) => Array<Asked>(count).fill('credits')

test.each([
  // Three of four stretches fall by a credit.
  [5, { 2: -1 }, { models: 0, credits: 1 }],
  // Two of three do.
  [4, { 2: -1 }, { models: 0, credits: 0 }],
] as const)(
  'a price must explain three quarters of all stretches: %i reads',
  (count, wrong, found) => {
    const service = { ...shown, prices: { models: 0, credits: 1 }, wrong }
    expect(inferred(reads(count), service)).toEqual(found)
    // Stretches without a read count for nothing.
    const failures: readonly Asked[] = ['failure', 'failure', 'failure']
    expect(inferred([...reads(count), ...failures], service)).toEqual(found)
  },
)

test('reads of the balance that lie between successes alone have an open price if three may show it', () => {
  const between = (count: number) =>
    inferred(
      reads(count).flatMap((each): Asked[] => [each, 'chat']),
      { ...shown, prices: { models: 0, credits: 1 } },
    )
  // The first shows nothing.
  expect(between(3)).toEqual({ models: 0, credits: 0 })
  expect(between(4)).toEqual({ prices: { models: 0, credits: 0 }, open: ['credits'] })
})

test.each([0, 1])(
  'one read of the models behind a failure leaves it open whether its value has its price in it: %i',
  (models) => {
    const service = { ...shown, prices: { models, credits: 0 } }
    expect(inferred(['failure', 'models'], service)).toEqual({
      prices: { models: 0, credits: 0 },
      open: ['models'],
    })
  },
)

test('where each stretch has a read of either kind, either may be the one that costs a credit', () => {
  const asked: readonly Asked[] = ['credits', 'models', 'credits', 'models', 'credits']
  const service = { failuresShow: true, modelsShow: false, prices: { models: 1, credits: 0 } }
  expect(inferred(asked, service)).toEqual({
    prices: { models: 0, credits: 0 },
    open: ['models', 'credits'],
  })
})

/** What reads of the balance cost by their times and values; a row without a value is a read of something else. */
const pricesOf = (rows: readonly (readonly [number, number, number?])[]) =>
  readPricesOf(
    [
      historyOf(
        rows.map(([callUs, endUs, value], slot) => ({
          ...{ slot, callUs, endUs, effect: 'read' as const, costCredits: 0 },
          ...(value === undefined ? {} : { value }),
        })),
      ),
    ],
    (_, row) => (rows[row]![2] === undefined ? undefined : 'credits'),
  ).prices.credits

test.each([
  [
    'reads that came alone show their price',
    [
      [0, 9, 100],
      [10, 19, 99],
      [20, 29, 98],
    ],
    1,
  ],
  [
    'reads that touch show none',
    [
      [0, 10, 100],
      [10, 20, 99],
      [30, 40, 98],
    ],
    0,
  ],
  [
    'nor do reads during a longer request',
    [
      [0, 100],
      [10, 20, 100],
      [30, 40, 99],
      [110, 120, 98],
    ],
    0,
  ],
] as const)('%s', (_, rows, credits) => {
  expect(pricesOf(rows)).toBe(credits)
})

test('the price of a read may be taken after its value was shown', () => {
  // The balance is 100. Each read of it costs a credit, which the next value shows.
  const rows = [
    ...['credits', 'models', 'failure', 'models', 'failure'],
    ...['credits', 'models', 'failure', 'models', 'failure'],
  ]
  const values = [100, null, 99, null, 99, 99, null, 98, null, 98]
  const history = historyOf(
    rows.map((what, slot) => ({
      ...{ slot, callUs: slot * 10, endUs: slot * 10 + 5, costCredits: 0 },
      effect: what === 'failure' ? ('failure' as const) : ('read' as const),
      ...(values[slot] === null ? {} : { value: values[slot]! }),
    })),
  )
  const markOf = (_: unknown, row: number) =>
    rows[row] === 'failure' ? undefined : (rows[row] as Mark)
  expect(readPricesOf([history], markOf)).toEqual({ prices: { models: 0, credits: 1 }, open: [] })
})

test('what two prices explain alike stays open, and so does a read that no stretch tells of', () => {
  const service = { failuresShow: true, modelsShow: false, prices: { models: 1, credits: 1 } }
  // One of each in every stretch: one of them may cost twice as much and the other nothing.
  expect(inferred(['credits', 'chat', 'models', 'chat', 'credits', 'credits'], service)).toEqual({
    prices: { models: 0, credits: 1 },
    open: ['models'],
  })
})

test('the price of reads next to successes only stays open, though other reads are free', () => {
  const service = { failuresShow: true, modelsShow: false, prices: { models: 1, credits: 0 } }
  expect(inferred(['credits', 'credits', 'chat', 'models', 'chat', 'credits'], service)).toEqual({
    prices: { models: 0, credits: 0 },
    open: ['models'],
  })
})
