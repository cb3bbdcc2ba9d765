import { expect, test } from 'vitest'
import { readBounds } from '../../../../src/audit/evidence/billing/bounds.ts'
import { type HistoryRow, historyOf } from './made-history.ts'

const row = (
  effect: HistoryRow['effect'],
  callUs: number,
  endUs: number,
  value?: number,
  more: Partial<HistoryRow> = {},
): HistoryRow => ({
  ...{ slot: 0, callUs, endUs, effect, costCredits: effect === 'read' ? 0 : 1 },
  ...(value === undefined ? {} : { value }),
  ...more,
})
const read = (callUs: number, endUs: number, value: number) => row('read', callUs, endUs, value)
const charge = (callUs: number, endUs: number, value?: number, more: Partial<HistoryRow> = {}) =>
  row('charge', callUs, endUs, value, more)
const dear = { costCredits: 3 }

const bounds = (
  rows: readonly HistoryRow[],
  { after = true, graceUs = 0, holds = false, lifetimeUs = Infinity } = {},
) => {
  const { observations, least, most, rise } = readBounds(historyOf(rows, { lifetimeUs }), {
    ...{ includesOwn: () => after, graceUs, holds },
  })
  return { observations, least: [least.row, least.credits], most: [most.row, most.credits], rise }
}
type Options = Parameters<typeof bounds>[1]

test.each([
  [
    'without a value there is no bound',
    [charge(0, 10)],
    {},
    { observations: 0, least: [-1, -Infinity], most: [-1, Infinity], rise: null },
  ],
  [
    'a charge that ended before a read is certainly in it, and a value after its charge includes it',
    [charge(0, 10, 99), read(11, 12, 99)],
    {},
    { observations: 2, least: [0, 100], most: [0, 100], rise: null },
  ],
  [
    'a charge that ends as the read is called may be in it',
    [charge(0, 10), read(10, 12, 99)],
    {},
    { observations: 1, least: [1, 99], most: [1, 100], rise: null },
  ],
  [
    'a charge that is called as the read is read may be in it',
    [charge(12, 20, undefined, dear), read(10, 12, 99)],
    {},
    { observations: 1, least: [0, 99], most: [0, 102], rise: null },
  ],
  [
    'a charge that is called later is not in it',
    [charge(13, 20, undefined, dear), read(10, 12, 99)],
    {},
    { observations: 1, least: [0, 99], most: [0, 99], rise: null },
  ],
  [
    'an ambiguous charge may be in it, but never certainly',
    [row('ambiguous', 0, 1, undefined, dear), read(10, 12, 97)],
    {},
    { observations: 1, least: [1, 97], most: [1, 100], rise: null },
  ],
  [
    'an ambiguous charge that shows a value may also be in it',
    [row('ambiguous', 0, 1, 97, dear)],
    {},
    { observations: 1, least: [0, 97], most: [0, 100], rise: null },
  ],
  [
    'a value before its own charge does not include it',
    [charge(0, 10, 100, dear), charge(20, 30, 97, dear)],
    { after: false },
    { observations: 2, least: [0, 100], most: [0, 100], rise: null },
  ],
  [
    'with a grace, a charge is certain only that long after its end',
    [charge(0, 10), read(15, 16, 99), read(16, 17, 99)],
    { graceUs: 5 },
    { observations: 2, least: [2, 100], most: [1, 100], rise: null },
  ],
  [
    'the tightest bounds are kept, with the first row that gives them',
    [read(0, 1, 100), charge(10, 20), read(15, 16, 99), read(30, 31, 99), read(40, 41, 98)],
    {},
    { observations: 4, least: [0, 100], most: [4, 99], rise: null },
  ],
  [
    'a rise against the clock is measured from the lowest earlier value',
    [read(0, 1, 98), read(2, 3, 99), read(4, 5, 100)],
    {},
    {
      ...{ observations: 3, least: [2, 100], most: [0, 98] },
      rise: { earlier: 0, later: 2, credits: 2 },
    },
  ],
  [
    'of two equal rises the first is named',
    [read(0, 1, 98), read(2, 3, 99), read(4, 5, 99)],
    {},
    {
      ...{ observations: 3, least: [1, 99], most: [0, 98] },
      rise: { earlier: 0, later: 1, credits: 1 },
    },
  ],
  [
    'of two equally low values the first is named',
    [read(0, 1, 98), read(2, 3, 98), read(4, 5, 99)],
    {},
    {
      ...{ observations: 3, least: [2, 99], most: [0, 98] },
      rise: { earlier: 0, later: 2, credits: 1 },
    },
  ],
  [
    'a request that was called as another was read may have seen more',
    [read(0, 2, 98), read(2, 3, 99)],
    {},
    { observations: 2, least: [1, 99], most: [0, 98], rise: null },
  ],
  [
    'the own charge of a later value adds to its rise',
    [read(0, 1, 98), charge(2, 3, 98, dear)],
    {},
    {
      ...{ observations: 2, least: [1, 101], most: [0, 98] },
      rise: { earlier: 0, later: 1, credits: 3 },
    },
  ],
  [
    'the own charge does not add if it may settle later',
    [read(0, 1, 98), charge(2, 3, 98, dear)],
    { graceUs: 1 },
    { observations: 2, least: [1, 101], most: [0, 98], rise: null },
  ],
  [
    'a charge that its own value does not show is settled once it has ended',
    [charge(0, 10, 100, dear), read(11, 12, 100)],
    { after: false },
    {
      ...{ observations: 2, least: [1, 103], most: [0, 100] },
      rise: { earlier: 0, later: 1, credits: 3 },
    },
  ],
  [
    'it is not settled as it ends, nor within the grace after it',
    [charge(0, 10, 100, dear), read(14, 15, 100)],
    { after: false, graceUs: 4 },
    { observations: 2, least: [0, 100], most: [0, 100], rise: null },
  ],
  [
    'the end of a read settles nothing',
    [{ ...read(0, 10, 100), costCredits: 3 }, read(11, 12, 100)],
    { after: false },
    { observations: 2, least: [0, 100], most: [0, 100], rise: null },
  ],
] as const)('%s', (_, rows, options: Options, result) => {
  expect(bounds(rows, options)).toEqual(result)
})

const refused = (callUs: number, endUs: number, more: Partial<HistoryRow> = {}) =>
  row('failure', callUs, endUs, undefined, { ...dear, ...more })

test.each([
  ['while it runs', refused(0, 20), { most: [1, 100], rise: null }],
  ['as it is called', refused(12, 20), { most: [0, 100], rise: null }],
  ['as it ends', refused(0, 10), { most: [1, 100], rise: null }],
  ['not before', refused(13, 20), { most: [0, 97], rise: { earlier: 0, later: 2, credits: 3 } }],
  ['not after', refused(0, 9), { most: [1, 97], rise: { earlier: 1, later: 2, credits: 3 } }],
] as const)('a failure may hold its price %s', (_, failure, { most, rise }) => {
  const rows = [failure, read(10, 12, 97), read(21, 22, 100)]
  expect(bounds(rows, { holds: true })).toMatchObject({ most, rise })
})

test('a failure excuses no rise if the service holds nothing', () => {
  const rows = [refused(0, 20), read(10, 12, 97), read(21, 22, 100)]
  expect(bounds(rows)).toMatchObject({
    ...{ most: [1, 97], rise: { earlier: 1, later: 2, credits: 3 } },
  })
})

test('an ambiguous request may hold its price until it settles, which excuses a rise', () => {
  const open = row('ambiguous', 0, 5, undefined, dear)
  const rows = [open, read(10, 12, 97), read(21, 22, 100)]
  expect(bounds(rows, { holds: true })).toMatchObject({ least: [2, 100], most: [1, 100] })
  expect(bounds(rows, { holds: true, lifetimeUs: 10 }).rise).toBeNull()
  expect(bounds(rows, { holds: true, lifetimeUs: 9 }).rise).toEqual({
    ...{ earlier: 1, later: 2, credits: 3 },
  })
})

test('a charge that its value does not include yet and a hold together excuse a rise', () => {
  const rows = [charge(0, 10, 97, dear), refused(0, 20), read(21, 22, 97)]
  expect(bounds(rows, { after: false, holds: true }).rise).toBeNull()
  expect(bounds(rows, { after: false }).rise).toEqual({ earlier: 0, later: 2, credits: 3 })
})
