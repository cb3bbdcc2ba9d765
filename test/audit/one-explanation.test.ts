import { describe, expect, test } from 'vitest'
import type { Contract } from '../../src/contract/contract.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { burst, madeAccount, oneByOne, pageAt, readAt } from './made-account.ts'
import { failuresOver, verdictOver } from './verdict-over.ts'

/** What explains a balance explains it for all rules, or for none. */

const { packages: _, grants: __, ...unsold } = defaultContract
const contracts: Readonly<Record<string, Contract>> = {
  'with packages': defaultContract,
  'without packages': unsold,
}
const loads = [readAt(0), ...oneByOne(1, 3), readAt(8), ...burst(10, 30), readAt(20)]
const after = [...oneByOne(24, 3), ...burst(40, 30), readAt(50), readAt(52)]

const moves: Readonly<Record<string, readonly { readonly atS: number; readonly by: number }[]>> = {
  'credits are added by hand in a load': [{ atS: 11.6, by: 777 }],
  'a package is bought in a load': [{ atS: 11.6, by: 500 }],
  'credits are added twice in a load': [
    { atS: 11.3, by: 777 },
    { atS: 12.1, by: 777 },
  ],
  'credits are added in each of two loads': [
    { atS: 11.6, by: 777 },
    { atS: 41.6, by: 777 },
  ],
  'an account is recharged by itself, again and again': [
    { atS: 11.3, by: 300 },
    { atS: 12.2, by: 300 },
    { atS: 41.5, by: 300 },
  ],
  'few credits are given for goodwill before anything was charged': [{ atS: 0.5, by: 27 }],
  'credits are transferred in while idle': [{ atS: 22, by: 222 }],
  'credits are added just before a request ends': [{ atS: 24.9, by: 777 }],
}

describe.each(Object.entries(contracts))('an honest service %s', (_name, contract) => {
  test.each(Object.entries(moves))(
    'is accused by no rule where %s',
    { tags: 'whole' },
    async (_is, moved) => {
      const { rows, ...more } = madeAccount(2000, [...loads, ...moved, ...after])
      expect(await failuresOver(rows, { ...more, contract })).toEqual({})
    },
  )

  test.each(Object.entries(moves))(
    'whose twin takes two credits for one is accused also where %s',
    { tags: 'whole' },
    async (_is, moved) => {
      const twin = [...loads, ...moved, ...after].map((each, nth) =>
        'cost' in each && nth % 5 === 2 ? { ...each, cost: 2 } : each,
      )
      const { rows, ...more } = madeAccount(2000, twin)
      const failed = await failuresOver(rows, { ...more, contract })
      expect(Object.keys(failed).filter((rule) => rule.startsWith('BILL'))).not.toEqual([])
    },
  )
})

test.each([
  ['a package expires in a load', [{ atS: 11.6, by: -1500 }]],
  [
    'a package expires while idle, and another is bought',
    [
      { atS: 22, by: -1500 },
      { atS: 41.4, by: 5000 },
    ],
  ],
])('credits that expired are no charge: %s', { tags: 'whole' }, async (_is, moved) => {
  const { rows, ...more } = madeAccount(2000, [...loads, ...moved, ...after])
  expect(await failuresOver(rows, more)).toEqual({})
})

/** Pages of a service that is right, after requests that took another price: the page is not what is wrong. */
const prices: Readonly<Record<string, (nth: number) => number>> = {
  free: () => 0,
  dear: () => 3,
  'free now and then': (nth) => (nth % 3 === 0 ? 0 : 1),
}
const hidden = (fromS: number, count: number, cost: (nth: number) => number) =>
  oneByOne(fromS, count).map((each, nth) => ({
    ...each,
    cost: cost(nth),
    showsBalance: false,
    row: { streamed: 1 },
  }))

describe.each(Object.entries(prices))('requests that are %s', (_is, cost) => {
  const pages: Readonly<Record<string, Parameters<typeof madeAccount>[1]>> = {
    'a header before them and a page after them': [
      ...[readAt(0), ...oneByOne(2, 4), readAt(12)],
      ...[...hidden(14, 4, cost), pageAt(30)],
    ],
    'a page after each of them': [
      ...[readAt(0), ...oneByOne(2, 4), readAt(12)],
      ...hidden(14, 6, cost).flatMap((each) => [each, pageAt(each.toS + 0.3)]),
    ],
    'pages before and after them alone': [
      ...[pageAt(0), ...hidden(2, 4, cost), pageAt(14)],
      ...[...hidden(16, 4, cost), pageAt(30)],
    ],
  }
  test.each(Object.entries(pages))(
    'accuse no page: %s',
    { tags: 'whole' },
    async (_where, events) => {
      const { rows, ...more } = madeAccount(500, events)
      const failed = await failuresOver(rows, more)
      expect(Object.keys(failed)).not.toContain('BILL-12')
      expect(Object.keys(failed)).not.toContain('USE-04')
    },
  )
})

test('a page that misses a charge is accused where a header before and after it shows the charge', async () => {
  const { rows, bodies, templates } = madeAccount(500, [
    ...[
      readAt(0),
      ...oneByOne(2, 4),
      readAt(12),
      pageAt(13),
      ...oneByOne(14, 4),
      readAt(24),
      pageAt(26),
    ],
    ...[...oneByOne(28, 2), readAt(34)],
  ])
  const wrong = bodies.map((each, nth) =>
    nth === 1 ? { ...each, body: each.body.replace('492', '495') } : each,
  )
  expect(await verdictOver('BILL-12', rows, { bodies: wrong, templates })).toMatchObject({
    verdict: 'fail',
    observed: expect.stringContaining('495'),
  })
})

test('a page whose consumed credits differ from what its balance lost is accused (USE-04)', {
  tags: 'whole',
}, async () => {
  const { rows, bodies, templates } = madeAccount(500, [
    ...[pageAt(0), ...hidden(2, 4, () => 1), pageAt(14)],
  ])
  const wrong = bodies.map((each) => ({
    ...each,
    body: each.body.replace('"consumed":4', '"consumed":7'),
  }))
  expect(await verdictOver('USE-04', rows, { bodies: wrong, templates })).toMatchObject({
    verdict: 'fail',
    observed: 'consumed grew by 7, our successes cost 4',
  })
})

/** Values of a balance that is kept in several places: none of them is the balance of the account. */
const kept: Readonly<Record<string, Parameters<typeof madeAccount>[2]>> = {
  'by each of two workers': (charged, _balance, nth) =>
    1000 - charged.reduce((sum, cost, at) => (at % 2 === nth % 2 ? sum + cost : sum), 0),
  'by each of three regions': (charged, _balance, nth) =>
    1000 - charged.reduce((sum, cost, at) => (at % 3 === nth % 3 ? sum + cost : sum), 0),
  'by replicas of which one is six requests behind': (charged, _balance, nth) =>
    1000 -
    charged
      .slice(0, nth % 2 === 0 ? undefined : Math.max(0, charged.length - 6))
      .reduce((sum, cost) => sum + cost, 0),
  'by a cache that is read anew after each eighth request': (charged) =>
    1000 -
    charged.slice(0, charged.length - (charged.length % 8)).reduce((sum, cost) => sum + cost, 0),
}
const refused = { outcome: 'http_error', status: 400, expects: 'invalid-parameter' } as const
const mixed = [
  ...[readAt(0), ...oneByOne(1, 7), readAt(16), readAt(17)],
  ...oneByOne(18, 4, { cost: 0, row: refused }),
  ...[readAt(27), readAt(28), ...burst(30, 25), readAt(40), readAt(41)],
  ...[...oneByOne(42, 6), readAt(56), readAt(57), readAt(58)],
]

describe.each(Object.entries(kept))('a balance that is kept %s', (_is, shown) => {
  test('is told by the rules on one balance, and no other rule accuses a charge', {
    tags: 'whole',
  }, async () => {
    const { rows, ...more } = madeAccount(1000, mixed, shown)
    const failed = Object.keys(await failuresOver(rows, more))
    const ofOneBalance = ['BILL-08', 'BILL-10', 'BILL-11', 'BILL-12', 'BILL-16']
    expect(failed.filter((rule) => !ofOneBalance.includes(rule))).toEqual([])
    const verdicts = await Promise.all(ofOneBalance.map((rule) => verdictOver(rule, rows, more)))
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(
      expect.arrayContaining([expect.stringMatching(/fail|inconclusive/)]),
    )
  })
})

test('two workers that share one balance are no several balances', { tags: 'whole' }, async () => {
  const { rows, ...more } = madeAccount(1000, mixed)
  expect(await failuresOver(rows, more)).toEqual({})
})
