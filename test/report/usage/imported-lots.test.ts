import { expect, test } from 'vitest'
import { quarterUs } from '../../../src/measure/usage/quantities.ts'
import { decimalText, rational } from '../../../src/money/rational.ts'
import { type HeldRow, holdingsOfRows } from '../../../src/report/usage/imported-lots.ts'
import { creditsHeld, ledgerOf } from '../../../src/report/usage/ledger.ts'
import { utc } from '../usage-events.ts'

const row = (
  id: string,
  type: string,
  credits: string,
  atUs: number,
  terms: object = {},
): HeldRow => ({
  ...{ source: 'ledger', id, type, credits, unit: 'credits', at_us: atUs },
  terms: Object.keys(terms).length === 0 ? null : JSON.stringify(terms),
})
const day = (at: number, hour = 0, minute = 0) => utc(2026, 11, at, hour, minute)

/** The ledger of rows, and of uses of these credits each at a time. */
function held(
  rows: readonly HeldRow[],
  uses: readonly (readonly [number, number])[],
  nowUs: number,
) {
  const { lots, burnOrder, taken = [] } = holdingsOfRows(rows, 'expiry')!
  const times = [
    ...new Set([
      ...lots.flatMap((lot) => [lot.fromUs, lot.expiresUs]),
      ...taken.map(({ atUs }) => atUs),
    ]),
  ]
    .filter((us) => us !== null)
    .sort((a, b) => a - b)
  const summed = uses.map(([atUs, credits]) => ({
    segment: times.filter((us) => us <= atUs).length,
    ...{ model: null, credits: rational(BigInt(credits)) },
  }))
  const ledger = ledgerOf(lots, summed, burnOrder, nowUs, taken)
  const { grants, ...sums } = creditsHeld(ledger)
  return {
    ...sums,
    grants: grants.map(({ name, credits, used, remaining }) => [name, credits, used, remaining]),
  }
}

test('a row that gives credits is a grant from its quarter of an hour to the end of the one in which it expires', () => {
  const rows = [
    row('p2', 'purchase', '5', day(2)),
    row('p1', 'gift', '7.5', day(1, 9, 7), {
      ...{ name: 'Bonus', expiresUs: day(9, 9, 7), priority: -2, models: '["nova","mini"]' },
    }),
  ]
  const { lots, asOfUs } = holdingsOfRows(rows, 'purchase')!
  expect(asOfUs).toBe(null)
  expect(lots.map((lot) => ({ ...lot, credits: decimalText(lot.credits) }))).toEqual([
    {
      ...{ name: 'Bonus', credits: '7.5', priority: -2, models: ['nova', 'mini'] },
      ...{ fromUs: day(1, 9), expiresUs: day(9, 9, 15) },
    },
    {
      ...{ name: 'purchase', credits: '5', priority: 0, models: null },
      ...{ fromUs: day(2), expiresUs: null },
    },
  ])
  expect(lots.every(({ fromUs }) => fromUs! % quarterUs === 0)).toBe(true)
  expect(holdingsOfRows([row('x', 'expiry', '-3', day(2))], 'expiry')).toBe(null)
})

test('grants of one moment stand by their source, then by their id, in whatever order the rows come', () => {
  const of = (source: string, id: string) => ({
    ...row(id, 'grant', '1', day(1), { name: id }),
    source,
  })
  const rows = [of('b', 'e0'), of('a', 'e2'), of('a', 'e3'), of('a', 'e1')]
  for (const given of [rows, rows.toReversed()]) {
    const { lots } = holdingsOfRows(given, 'purchase')!
    expect(lots.map(({ name }) => name)).toEqual(['e1', 'e2', 'e3', 'e0'])
  }
})

test('an expiry takes its amount from the grant that it names, and held, used and left still add up', () => {
  const rows = [
    row('p1', 'purchase', '100', day(1), { name: 'Pack' }),
    row('p2', 'purchase', '50', day(2), { name: 'Other' }),
    row('x1', 'expiry', '-30', day(10), { refersTo: 'p2' }),
  ]
  expect(held(rows, [[day(3), 40]], day(20))).toEqual({
    ...{ held: '120', used: '40', remaining: '80', expired: '30', uncovered: '0' },
    grants: [
      ['Pack', '100', '40', '60'],
      ['Other', '20', '0', '20'],
    ],
  })
  // What was used before is not taken, and nothing more than is left.
  expect(
    held(
      [rows[0]!, row('x1', 'expiry', '-90', day(10), { refersTo: 'p1' })],
      [[day(3), 40]],
      day(20),
    ),
  ).toMatchObject({
    ...{ held: '40', used: '40', remaining: '0', expired: '60' },
  })
})

test('an expiry that names no grant is of those that state no expiry, since the others end by themselves', () => {
  const rows = [
    row('p1', 'grant', '100', day(1), { name: 'Ends', expiresUs: day(10) }),
    row('p2', 'grant', '50', day(1), { name: 'Stays' }),
    row('x1', 'expiry', '-100', day(10)),
  ]
  expect(held(rows.slice(0, 1).concat(rows[2]!), [], day(20))).toMatchObject({
    held: '0',
    expired: '100',
  })
  expect(held(rows, [], day(9))).toMatchObject({ held: '150', expired: '0' })
  expect(held(rows, [], day(20))).toMatchObject({
    held: '0',
    remaining: '0',
    expired: '150',
    grants: [],
  })
})

test('rows that share the id of a block are of one grant, as exports of ledgers have them', () => {
  const rows = [
    row('e1', 'grant', '500', day(1), { refersTo: 'block-1' }),
    row('e4', 'expiry', '-30', day(4), { refersTo: 'block-1' }),
  ]
  expect(held(rows, [], day(20))).toMatchObject({ held: '470', expired: '30' })
})

test('a refund returns to what was used, not to what was taken', () => {
  const rows = [
    row('p1', 'purchase', '100', day(1), { name: 'Pack' }),
    row('x1', 'expiry', '-30', day(10), { refersTo: 'p1' }),
  ]
  expect(
    held(
      rows,
      [
        [day(3), 40],
        [day(12), -25],
      ],
      day(20),
    ),
  ).toMatchObject({
    ...{ held: '70', used: '15', remaining: '55', expired: '30', uncovered: '0' },
  })
  expect(
    held(
      rows,
      [
        [day(3), 40],
        [day(12), -60],
      ],
      day(20),
    ),
  ).toMatchObject({
    ...{ held: '70', used: '0', remaining: '70', uncovered: '-20' },
  })
})
