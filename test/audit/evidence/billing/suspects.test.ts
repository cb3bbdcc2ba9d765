import { expect, test } from 'vitest'
import type { Place } from '../../../../src/audit/evidence/billing/place.ts'
import { suspectsOf } from '../../../../src/audit/evidence/billing/suspects.ts'
import { type HistoryRow, historyOf } from './made-history.ts'

const request = (callUs: number, endUs: number, more: Partial<HistoryRow> = {}): HistoryRow => ({
  ...{ slot: 0, callUs, endUs, effect: 'charge', costCredits: 1 },
  ...more,
})
const left = { effect: 'ambiguous', abandonment: 'aborted' } as const
/** A balance gap of one credit above a row that does not exist, unless given. */
const placeOf = (fromUs: number, toUs: number, share: number, balanceGap: object = {}): Place => ({
  balanceGap: { above: -1, below: -1, credits: 1, fromUs, toUs, ...balanceGap },
  ...{ fromUs, toUs, share },
})
const suspects = (
  rows: readonly HistoryRow[],
  places: readonly [Place, ...Place[]],
  unexplained = 1,
  charged: readonly number[] = [],
) => suspectsOf(historyOf(rows), places, unexplained, new Set(charged))

test.each([
  [
    'requests that touch the balance gap are in flight, except reads',
    [
      request(0, 9),
      request(1, 10),
      request(15, 16, { effect: 'read', costCredits: 0 }),
      request(20, 30),
      request(21, 40),
    ],
    [placeOf(10, 20, 1)],
    { inFlight: 2, otherPlaces: 0, rows: [1, 3] },
  ],
  [
    'a success ranks above abandoned and failed requests, and a fitting price above another',
    [
      request(0, 15, { effect: 'failure' }),
      request(1, 15, { ...left }),
      request(2, 15, { costCredits: 2 }),
      request(3, 15),
      request(4, 15, { ...left, costCredits: 2 }),
    ],
    [placeOf(10, 20, 1)],
    { inFlight: 5, otherPlaces: 0, rows: [3, 2, 0, 1, 4] },
  ],
  [
    'of equal prices, the one that ended in the place of the balance gap ranks first, then the nearest',
    [request(0, 12), request(1, 31), request(2, 25), request(3, 21), request(4, 19)],
    [{ ...placeOf(20, 24, 1), balanceGap: { ...placeOf(10, 40, 1).balanceGap } }],
    { inFlight: 5, otherPlaces: 0, rows: [3, 2, 4, 1, 0] },
  ],
  [
    'of requests that ended in the place, the nearest to its middle ranks first',
    [request(0, 20), request(1, 23), request(2, 25), request(3, 30)],
    [placeOf(20, 28, 1)],
    { inFlight: 4, otherPlaces: 0, rows: [1, 2, 0, 3] },
  ],
  [
    'the charge right below the balance gap ranks first, for any price',
    [request(0, 15), request(1, 19, { costCredits: 2 })],
    [placeOf(10, 20, 1, { below: 1 })],
    { inFlight: 2, otherPlaces: 0, rows: [1, 0] },
  ],
  [
    'rows of a likelier place rank first, except a row with a higher sum of shares',
    [request(0, 15), request(1, 115), request(2, 215)],
    [placeOf(10, 20, 0.5), placeOf(110, 120, 0.3), placeOf(210, 220, 0.05)],
    // 0: 0.5; 1: 0.5 / 2 + 0.3; 2: 0.5 / 3 + 0.3 / 2 + 0.05.
    { inFlight: 3, otherPlaces: 2, rows: [1, 0, 2] },
  ],
  [
    'the charge directly below a balance gap counts fully, like the first of a place',
    [request(0, 15), request(100, 115)],
    [placeOf(10, 20, 0.5), placeOf(110, 120, 0.3, { below: 1 })],
    { inFlight: 1, otherPlaces: 1, rows: [0, 1] },
  ],
  [
    'places count as about as likely down to a tenth of the share',
    [request(0, 15)],
    [placeOf(10, 20, 0.5), placeOf(110, 120, 0.05), placeOf(210, 220, 0.049)],
    { inFlight: 1, otherPlaces: 1, rows: [0] },
  ],
  [
    'a place with half a percent has suspects, and one with less has none',
    [request(0, 15), request(100, 115), request(200, 215)],
    [placeOf(10, 20, 0.99), placeOf(110, 120, 0.005), placeOf(210, 220, 0.0049)],
    { inFlight: 1, otherPlaces: 0, rows: [0, 1] },
  ],
] as const)('%s', (_, rows, places: readonly unknown[], result) => {
  expect(suspects(rows, places as [Place, ...Place[]])).toEqual(result)
})

test('an abandoned attempt that was surely charged ranks like a success', () => {
  const rows = [request(0, 15, left), request(1, 14, left), request(2, 13)]
  expect(suspects(rows, [placeOf(10, 20, 1)]).rows).toEqual([2, 0, 1])
  expect(suspects(rows, [placeOf(10, 20, 1)], 1, [0, 1]).rows).toEqual([0, 1, 2])
})

test('a price fits if it equals the balance gap or its unexplained part', () => {
  const rows = [2, 3, 4].map((costCredits, at) => request(at, 15, { costCredits }))
  expect(suspects(rows, [placeOf(10, 20, 1, { credits: 4 })], 3).rows).toEqual([1, 2, 0])
})

test('at most 64 suspects are named, from at most 64 places', () => {
  const rows = Array.from({ length: 70 }, (_, at) => request(at * 100, at * 100 + 10))
  const [first, ...others] = rows.map(({ callUs }) => placeOf(callUs + 5, callUs + 6, 1 / 70))
  const result = suspects(rows, [first!, ...others])
  expect(result).toEqual({
    ...{ inFlight: 1, otherPlaces: 69 },
    rows: Array.from({ length: 64 }, (_, at) => at),
  })
  const many = Array.from({ length: 70 }, (_, at) => request(at, 100))
  const { inFlight, rows: named } = suspects(many, [placeOf(80, 90, 1)])
  expect([inFlight, named.length]).toEqual([70, 64])
})

test('among very many places, none is likely enough for suspects, and the first gives the requests in flight', () => {
  const rows = Array.from({ length: 250 }, (_, at) => request(at * 100, at * 100 + 10))
  const [first, ...others] = rows.map(({ callUs }) => placeOf(callUs + 5, callUs + 6, 1 / 250))
  expect(suspects(rows, [first!, ...others])).toEqual({ inFlight: 1, otherPlaces: 249, rows: [] })
})

test('of two equally likely suspects, the one below the balance gap comes first', () => {
  const rows = [request(0, 10), request(1, 10)]
  const places: [Place, Place] = [
    placeOf(5, 6, 0.5, { below: 1, credits: 1 }),
    placeOf(5, 6, 0.5, { below: 0, credits: 1 }),
  ]
  // Each comes first at one place and second at the other.
  expect(suspects(rows, places).rows).toEqual([0, 1])
})
