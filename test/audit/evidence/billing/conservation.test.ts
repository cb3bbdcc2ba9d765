import { expect, test } from 'vitest'
import { excessOf, readConservation } from '../../../../src/audit/evidence/billing/conservation.ts'
import { type HistoryRow, historyOf } from './made-history.ts'

const row = (
  effect: HistoryRow['effect'],
  callUs: number,
  endUs: number,
  value?: number,
  costCredits = effect === 'read' ? 0 : 1,
): HistoryRow => ({
  ...{ slot: 0, callUs, endUs, effect, costCredits },
  ...(value === undefined ? {} : { value }),
})
const read = (callUs: number, value: number) => row('read', callUs, callUs + 1, value)

const conserved = (rows: readonly HistoryRow[], { after = true, lifetimeUs = Infinity } = {}) => {
  const { idle, balance, segments, whole } = readConservation(
    historyOf(rows, { lifetimeUs }),
    () => after,
  )
  return { idle: [...idle], balance: [...balance], segments, whole }
}
const none = { ambiguous: 0, returned: 0 }

test.each([
  [
    'a single value has no segment',
    [read(0, 100)],
    {},
    { idle: [0], balance: [100], segments: [], whole: null },
  ],
  [
    'two values have one segment, with the successes in between and its own',
    [read(0, 100), row('charge', 10, 20, undefined, 3), row('charge', 30, 40, 96)],
    {},
    {
      ...{ idle: [0, 2], balance: [100, 96] },
      segments: [{ from: 0, to: 2, taken: 4, sure: 4, charges: 2, ...none }],
      whole: { from: 0, to: 2, taken: 4, sure: 4, charges: 2, ...none },
    },
  ],
  [
    'a value before its own charge is lowered by it',
    [read(0, 100), row('charge', 10, 20, 100, 3)],
    { after: false },
    {
      ...{ idle: [0, 1], balance: [100, 97] },
      segments: [{ from: 0, to: 1, taken: 3, sure: 3, charges: 1, ...none }],
      whole: { from: 0, to: 1, taken: 3, sure: 3, charges: 1, ...none },
    },
  ],
  [
    'the value of a read is not lowered',
    [row('read', 0, 1, 100, 2)],
    { after: false },
    { idle: [0], balance: [100], segments: [], whole: null },
  ],
  [
    'values of requests that touch are not idle',
    [row('charge', 0, 10, 99), row('charge', 10, 20, 98), row('charge', 21, 30, 97)],
    {},
    { idle: [2], balance: [97], segments: [], whole: null },
  ],
  [
    'an ambiguous request may be charged from its call to its end, and disturbs no value',
    [read(0, 100), row('ambiguous', 10, 20, undefined, 3), read(15, 97), read(30, 97)],
    {},
    {
      ...{ idle: [0, 2, 3], balance: [100, 97, 97] },
      segments: [
        { ...{ from: 0, to: 2, taken: 3, sure: 0, charges: 0 }, ambiguous: 3, returned: 0 },
        { ...{ from: 2, to: 3, taken: 0, sure: 0, charges: 0 }, ambiguous: 3, returned: 3 },
      ],
      whole: { ...{ from: 0, to: 3, taken: 3, sure: 0, charges: 0 }, ambiguous: 3, returned: 0 },
    },
  ],
  [
    'a request that settles as the first value is called may still be charged, and later not',
    [read(0, 100), row('ambiguous', 5, 6), read(15, 99), read(20, 99), read(30, 99)],
    { lifetimeUs: 10 },
    {
      ...{ idle: [0, 2, 3, 4], balance: [100, 99, 99, 99] },
      segments: [
        { ...{ from: 0, to: 2, taken: 1, sure: 0, charges: 0 }, ambiguous: 1, returned: 0 },
        { ...{ from: 2, to: 3, taken: 0, sure: 0, charges: 0 }, ambiguous: 1, returned: 1 },
        { ...{ from: 3, to: 4, taken: 0, sure: 0, charges: 0 }, ambiguous: 0, returned: 0 },
      ],
    },
  ],
  [
    'an ambiguous request with a value is not idle',
    [read(0, 100), row('ambiguous', 5, 6, 99), read(15, 99)],
    { lifetimeUs: 5 },
    {
      idle: [0, 2],
      whole: { ...{ from: 0, to: 2, taken: 1, sure: 0, charges: 0 }, ambiguous: 1, returned: 0 },
    },
  ],
  [
    'only credits taken beyond the successes can be returned',
    [
      ...[read(0, 100), row('ambiguous', 10, 20, undefined, 3), row('charge', 21, 22)],
      ...[read(30, 98), read(40, 99)],
    ],
    {},
    {
      idle: [0, 3, 4],
      segments: [
        { ...{ from: 0, to: 3, taken: 2, sure: 1, charges: 1 }, ambiguous: 3, returned: 0 },
        { ...{ from: 3, to: 4, taken: -1, sure: 0, charges: 0 }, ambiguous: 3, returned: 1 },
      ],
    },
  ],
] as const)('%s', (_, rows, options: Parameters<typeof conserved>[1], result) => {
  expect(conserved(rows, options)).toMatchObject(result)
})

test.each([
  ['only the cost of the successes', { taken: 5, sure: 5, ambiguous: 2, returned: 2 }, 0],
  ['the possible cost of ambiguous requests', { taken: 7, sure: 5, ambiguous: 2, returned: 0 }, 0],
  ['more than both', { taken: 8, sure: 5, ambiguous: 2, returned: 0 }, 1],
  ['less by the returned credits', { taken: 3, sure: 5, ambiguous: 0, returned: 2 }, 0],
  ['less than that', { taken: 2, sure: 5, ambiguous: 9, returned: 2 }, -1],
])('the excess of a segment that took %s', (_, segment, excess) => {
  expect(excessOf({ from: 0, to: 1, charges: 1, ...segment })).toBe(excess)
})
