import { expect, test } from 'vitest'
import type { AttemptRow } from '../../../../src/attempt/columns.ts'
import { effects } from '../../../../src/audit/evidence/billing/history.ts'
import {
  withFreeReads,
  withoutOpenPrices,
} from '../../../../src/audit/evidence/billing/open-prices.ts'
import type { Mark } from '../../../../src/audit/evidence/billing/read-prices.ts'
import { defaultContract } from '../../../../src/contract/default.ts'
import { inFlight, read } from '../../in-flight.ts'
import { verdictOver } from '../../verdict-over.ts'
import { type HistoryRow, historyOf } from './made-history.ts'

/**
 * The verdicts of BILL-10 and BILL-11 on rows after two separate reads of the balance, which show
 * that reads are free.
 */
async function verdictsOf(rows: readonly AttemptRow[]) {
  const all = [read(100, 0, 100), read(101, 0.5, 100), ...rows]
  const [sums, history] = [await verdictOver('BILL-10', all), await verdictOver('BILL-11', all)]
  return { sums: sums.verdict, history: history.verdict }
}

const models = (slot: number, fromS: number, toS: number, balance: number | null) =>
  inFlight(slot, fromS, toS, balance, { endpoint: 'models', model: null })

/** A read of the models next to a success, three times; the second read takes this much. */
const besideSuccesses = (second: number) => [
  inFlight(0, 1, 3.6, 99),
  models(1, 2, 4, 99),
  inFlight(2, 3.5, 5, 98),
  inFlight(3, 6, 8, 97),
  models(4, 7, 9, 97 - second),
  inFlight(5, 8.5, 10, 96 - second),
  inFlight(6, 11, 13, 95 - second),
  models(7, 12, 14, 95 - second),
  inFlight(8, 13.5, 15, 94 - second),
  read(9, 16, 94 - second),
]

test('a credit that only one of three reads can have taken is a failure, because all reads have one price', {
  tags: 'whole',
}, async () => {
  expect(await verdictsOf(besideSuccesses(0))).toEqual({ sums: 'pass', history: 'pass' })
  expect(await verdictsOf(besideSuccesses(1))).toEqual({ sums: 'fail', history: 'fail' })
})

test('a service that charges a credit for each read of the models is not accused', {
  tags: 'whole',
}, async () => {
  const charged = [
    inFlight(0, 1, 3.6, 99),
    models(1, 2, 4, 98),
    inFlight(2, 3.5, 5, 97),
    inFlight(3, 6, 8, 96),
    models(4, 7, 9, 95),
    inFlight(5, 8.5, 10, 94),
    inFlight(6, 11, 13, 93),
    models(7, 12, 14, 92),
    inFlight(8, 13.5, 15, 91),
    read(9, 16, 91),
  ]
  expect(await verdictsOf(charged)).toEqual({ sums: 'pass', history: 'pass' })
  const unseen = charged.map((row) =>
    row.endpoint === 'models' ? { ...row, creditsRemaining: null } : row,
  )
  expect(await verdictsOf(unseen)).toEqual({ sums: 'pass', history: 'pass' })
})

test('a missing credit is inconclusive if one read may have cost it', {
  tags: 'whole',
}, async () => {
  const rows = [
    inFlight(0, 1, 3.6, 99),
    models(1, 2, 4, 98),
    inFlight(2, 3.5, 5, 97),
    read(3, 6, 97),
  ]
  expect(await verdictsOf(rows)).toEqual({ sums: 'inconclusive', history: 'inconclusive' })
})

test('a read that ended before a credit went missing does not explain it', {
  tags: 'whole',
}, async () => {
  const rows = [
    inFlight(0, 1, 3.6, 99),
    models(1, 2, 4, null),
    inFlight(2, 3.5, 5, 98),
    inFlight(3, 6, 8, 97),
    inFlight(4, 7, 9, 95),
    read(5, 10, 95),
  ]
  expect(await verdictsOf(rows)).toEqual({ sums: 'fail', history: 'fail' })
})

test('credits that only some abandoned attempts can have taken, by no policy, are inconclusive', {
  tags: 'whole',
}, async () => {
  const left = (slot: number, fromS: number) =>
    inFlight(slot, fromS, fromS + 1, null, {
      outcome: 'aborted',
      reason: 'first-event',
      streamed: 1,
    })
  const rows = (taken: number) => [
    ...[0, 1, 2, 3].flatMap((at) => [
      left(2 * at, 1 + 3 * at),
      inFlight(2 * at + 1, 1.5 + 3 * at, 3 + 3 * at, 99 - at - Math.min(taken, at)),
    ]),
    inFlight(8, 12.5, 14, 95 - taken),
    inFlight(9, 13, 15, 94 - taken),
    read(10, 700, 94 - taken),
    read(11, 701, 94 - taken),
  ]
  expect(await verdictsOf(rows(0))).toEqual({ sums: 'pass', history: 'pass' })
  expect(await verdictsOf(rows(2))).toEqual({ sums: 'inconclusive', history: 'inconclusive' })
})

type MarkedRow = HistoryRow & { readonly mark?: Mark }
const request = (callUs: number, endUs: number, value?: number, costCredits = 1): MarkedRow => ({
  ...{ slot: callUs, callUs, endUs, effect: 'charge', costCredits },
  ...(value === undefined ? {} : { value }),
})
const readOf = (mark: 'models' | 'credits', callUs: number, endUs: number, value?: number) => ({
  ...{ ...request(callUs, endUs, value, 0), effect: 'read' as const, mark },
})

test.each([
  [
    'a read and everything later are raised by its price',
    [readOf('credits', 0, 10, 99), request(20, 30, 98), readOf('models', 40, 50, 98)],
    { value: [100, 99, 99], spentOnReads: [1, 1, 1] },
  ],
  [
    'a read without a balance is a charge of its price',
    [readOf('credits', 0, 10), request(20, 30, 98)],
    { value: [Number.NaN, 98], effect: [effects.charge, effects.charge], costCredits: [1, 1] },
  ],
  [
    'a concurrent value above that of a read came before the read',
    [readOf('credits', 0, 20, 98), request(5, 15, 99)],
    { value: [99, 99] },
  ],
  [
    'a concurrent value not above that of a read came after it',
    [readOf('credits', 0, 20, 98), request(5, 15, 98), request(6, 15, 97)],
    { value: [99, 99, 98] },
  ],
  [
    'a read that is called as another value is read may come before it',
    [request(0, 20, 98), readOf('credits', 20, 30, 98)],
    { value: [99, 99] },
  ],
  [
    'a read that is called later does not come before it, even with the same value',
    [request(0, 20, 98), readOf('credits', 21, 30, 98)],
    { value: [98, 99] },
  ],
  [
    'a read that is read as another request is called may come before it or after it',
    [readOf('credits', 0, 20, 98), request(20, 30, 99)],
    { value: [99, 99] },
  ],
  [
    'of many concurrent reads, those with the same value come before the request',
    [
      ...[readOf('credits', 0, 60, 97), readOf('credits', 1, 30, 99), readOf('credits', 2, 40, 98)],
      ...[request(3, 35, 98), request(70, 80, 95)],
    ],
    { value: [100, 100, 100, 100, 98], spentOnReads: [3, 1, 2, 2, 3] },
  ],
] as const)('where reads of the balance cost a credit, %s', (_, rows, columns) => {
  const list: readonly MarkedRow[] = rows
  const priced = withFreeReads(historyOf(list), (row) => (list[row]!.mark === 'credits' ? 1 : 0))
  for (const [name, column] of Object.entries(columns)) {
    expect([...(priced[name as 'value'] as Float64Array)]).toEqual(column)
  }
})

/** The possible prices of these rows, in one history. */
async function assumed(rows: readonly MarkedRow[]) {
  const marks = rows.flatMap(({ slot, mark }) => (mark ? [{ name: `run/${slot}/0`, mark }] : []))
  const assumptions = await withoutOpenPrices(
    {
      store: {
        rows: async () => marks as never,
        doubles: async () => [],
        doubleBatches: async () => {},
        path: '',
      },
      ...{ runIds: ['run'], contract: defaultContract },
    },
    [historyOf(rows)],
  )
  return assumptions.map((assume) => {
    const { prices, histories, pricedReads } = assume()
    const { effect, costCredits, value } = histories[0]!
    return {
      ...{ prices, pricedReads, effect: [...effect].join(''), value: [...value] },
      costCredits: [...costCredits],
    }
  })
}
const empty = (callUs: number, mark: Mark = 'empty') => ({
  ...{ ...request(callUs, callUs + 5), mark },
})
const lone = (callUs: number, value: number) => ({
  ...{ ...request(callUs, callUs + 5, value, 0), effect: 'read' as const },
})
const noPrice = { models: 0, credits: 0 }

test('without a read or an empty answer, no price is open', async () => {
  expect(await assumed([lone(0, 100), request(10, 15, 99)])).toEqual([
    {
      prices: { reads: noPrice, openReads: [], emptyIsFree: null },
      ...{ pricedReads: 0, effect: '30', value: [100, 99], costCredits: [0, 1] },
    },
  ])
})

test('reads that lose a credit each are priced at one, and the history shows them as free', async () => {
  const rows = [0, 1, 2, 3].map((at) => readOf('credits', at * 10, at * 10 + 5, 99 - at))
  expect(await assumed([...rows, request(50, 55, 95)])).toEqual([
    {
      prices: { reads: { models: 0, credits: 1 }, openReads: [], emptyIsFree: null },
      ...{ pricedReads: 4, effect: '33330', value: [100, 100, 100, 100, 99] },
      costCredits: [0, 0, 0, 0, 1],
    },
  ])
})

test('a read with an open price is tried as free and as one credit', async () => {
  const rows = [
    ...[readOf('credits', 0, 5, 100), readOf('credits', 10, 15, 100), request(20, 25, 99)],
    ...[readOf('models', 30, 35), request(40, 45, 98), readOf('credits', 50, 55, 98)],
  ]
  expect(await assumed(rows)).toMatchObject([
    { prices: { reads: noPrice, openReads: ['models'] }, pricedReads: 0, effect: '330303' },
    {
      prices: { reads: { models: 1, credits: 0 }, openReads: ['models'] },
      ...{ pricedReads: 1, effect: '330003', costCredits: [0, 0, 1, 1, 1, 0] },
    },
  ])
})

test.each([
  [
    'an answer alone between two equal values is free',
    [lone(0, 100), empty(10), lone(20, 100)],
    { emptyIsFree: true, effect: '333', costCredits: [0, 0, 0] },
  ],
  [
    'an answer that takes its price costs it',
    [lone(0, 100), empty(10), lone(20, 99)],
    { emptyIsFree: false, effect: '303', costCredits: [0, 1, 0] },
  ],
  [
    'two answers that disagree leave the price open, and each may have been charged',
    [lone(0, 100), empty(10), lone(20, 99), empty(30), lone(40, 99)],
    { emptyIsFree: null, effect: '31313', costCredits: [0, 1, 0, 1, 0] },
  ],
  [
    'two answers that agree do not',
    [lone(0, 100), empty(10), lone(20, 99), empty(30), lone(40, 98)],
    { emptyIsFree: false, effect: '30303', costCredits: [0, 1, 0, 1, 0] },
  ],
  [
    'an answer that touches the value before it is no evidence',
    [{ ...lone(0, 100), endUs: 10 }, empty(10), lone(20, 99)],
    { emptyIsFree: null, effect: '313', costCredits: [0, 1, 0] },
  ],
  [
    'an answer that touches the value after it is no evidence',
    [lone(0, 100), { ...empty(10), endUs: 20 }, lone(20, 99)],
    { emptyIsFree: null, effect: '313', costCredits: [0, 1, 0] },
  ],
  [
    'an answer next to a success is no evidence',
    [request(0, 5, 100), empty(10), lone(20, 99)],
    { emptyIsFree: null, effect: '013', costCredits: [1, 1, 0] },
  ],
  [
    'an answer before a success is no evidence, nor is the first or the last',
    [empty(0), lone(10, 100), empty(20), request(30, 35, 98), empty(40)],
    { emptyIsFree: null, effect: '13101', costCredits: [1, 0, 1, 1, 1] },
  ],
  [
    'an answer that may have been empty is no evidence, and is open if empty ones are free',
    [lone(0, 100), empty(10), lone(20, 100), empty(30, 'perhaps-empty'), lone(40, 99)],
    { emptyIsFree: true, effect: '33313', costCredits: [0, 0, 0, 1, 0] },
  ],
  [
    'alone it is open',
    [lone(0, 100), empty(10, 'perhaps-empty'), lone(20, 100)],
    { emptyIsFree: null, effect: '313', costCredits: [0, 1, 0] },
  ],
  [
    'a refused answer does not count',
    [lone(0, 100), { ...empty(10), effect: 'failure' as const }, empty(16), lone(30, 100)],
    { emptyIsFree: null, effect: '3213', costCredits: [0, 1, 1, 0] },
  ],
])('for answers without a token, %s', async (_, rows, { emptyIsFree, ...columns }) => {
  expect(await assumed(rows)).toMatchObject([{ prices: { emptyIsFree }, ...columns }])
})

test.each([
  ['free', 20, 10, true],
  ['free', 20, 11, false],
  ['free', 19, 19, true],
  ['open', 20, 2, true],
  ['open', 20, 3, false],
  ['open', 19, 3, true],
] as const)(
  'if empty answers are %s, %i successes may include %i empty ones: %s',
  async (policy, successes, count, isApplied) => {
    const rows = Array.from({ length: successes }, (_, at) =>
      at < count ? empty(100 + at * 10) : request(100 + at * 10, 105 + at * 10),
    )
    // Two reads around the first show that it is free.
    const around = policy === 'free' ? [lone(0, 100), lone(107, 100)] : []
    const [reading] = await assumed([...around, ...rows])
    const changed = policy === 'free' ? effects.read : effects.ambiguous
    const isChanged = [...reading!.effect].filter((each) => Number(each) === changed)
    expect(isChanged.length - around.length).toBe(isApplied ? count : 0)
  },
)
