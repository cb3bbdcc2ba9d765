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

test('the price of a read stays open if two prices fit, or if no stretch shows it', () => {
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
