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
  const { idle, balance, stretches, whole } = readConservation(
    historyOf(rows, { lifetimeUs }),
    () => after,
  )
  return { idle: [...idle], balance: [...balance], stretches, whole }
}
/** Of a stretch without ambiguous attempts: the successes alone may be taken. */
const none = (sure: number, excess: number) => ({
  ...{ ambiguous: 0, between: { least: sure, most: sure }, excess },
})

test.each([
  [
    'a single value has no stretch',
    [read(0, 100)],
    {},
    { idle: [0], balance: [100], stretches: [], whole: null },
  ],
  [
    'two values have one stretch, with the successes in between and its own',
    [read(0, 100), row('charge', 10, 20, undefined, 3), row('charge', 30, 40, 96)],
    {},
    {
      ...{ idle: [0, 2], balance: [100, 96] },
      stretches: [{ from: 0, to: 2, taken: 4, sure: 4, charges: 2, ...none(4, 0) }],
      whole: { from: 0, to: 2, taken: 4, sure: 4, charges: 2, ...none(4, 0) },
    },
  ],
  [
    'a value before its own charge is lowered by it',
    [read(0, 100), row('charge', 10, 20, 100, 3)],
    { after: false },
    {
      ...{ idle: [0, 1], balance: [100, 97] },
      stretches: [{ from: 0, to: 1, taken: 3, sure: 3, charges: 1, ...none(3, 0) }],
      whole: { from: 0, to: 1, taken: 3, sure: 3, charges: 1, ...none(3, 0) },
    },
  ],
  [
    'the value of a read is not lowered',
    [row('read', 0, 1, 100, 2)],
    { after: false },
    { idle: [0], balance: [100], stretches: [], whole: null },
  ],
  [
    'values of requests that touch are not idle',
    [row('charge', 0, 10, 99), row('charge', 10, 20, 98), row('charge', 21, 30, 97)],
    {},
    { idle: [2], balance: [97], stretches: [], whole: null },
  ],
  [
    'an ambiguous request may be charged from its call to its end, and disturbs no value',
    [read(0, 100), row('ambiguous', 10, 20, undefined, 3), read(15, 97), read(30, 97)],
    {},
    {
      ...{ idle: [0, 2, 3], balance: [100, 97, 97] },
      stretches: [
        {
          ...{ from: 0, to: 2, taken: 3, sure: 0, charges: 0 },
          ambiguous: 3,
          between: { least: 0, most: 3 },
          excess: 0,
        },
        {
          ...{ from: 2, to: 3, taken: 0, sure: 0, charges: 0 },
          ambiguous: 3,
          between: { least: -3, most: 3 },
          excess: 0,
        },
      ],
      whole: {
        ...{ from: 0, to: 3, taken: 3, sure: 0, charges: 0 },
        ambiguous: 3,
        between: { least: 0, most: 3 },
        excess: 0,
      },
    },
  ],
  [
    'a request that settles as the first value is called may still be charged, and later not',
    [read(0, 100), row('ambiguous', 5, 6), read(15, 99), read(20, 99), read(30, 99)],
    { lifetimeUs: 10 },
    {
      ...{ idle: [0, 2, 3, 4], balance: [100, 99, 99, 99] },
      stretches: [
        {
          ...{ from: 0, to: 2, taken: 1, sure: 0, charges: 0 },
          ambiguous: 1,
          between: { least: 0, most: 1 },
          excess: 0,
        },
        {
          ...{ from: 2, to: 3, taken: 0, sure: 0, charges: 0 },
          ambiguous: 1,
          between: { least: -1, most: 1 },
          excess: 0,
        },
        {
          ...{ from: 3, to: 4, taken: 0, sure: 0, charges: 0 },
          ambiguous: 0,
          between: { least: 0, most: 0 },
          excess: 0,
        },
      ],
    },
  ],
  [
    'an ambiguous request with a value is not idle',
    [read(0, 100), row('ambiguous', 5, 6, 99), read(15, 99)],
    { lifetimeUs: 5 },
    {
      idle: [0, 2],
      whole: {
        ...{ from: 0, to: 2, taken: 1, sure: 0, charges: 0 },
        ambiguous: 1,
        between: { least: 0, most: 1 },
        excess: 0,
      },
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
      stretches: [
        {
          ...{ from: 0, to: 3, taken: 2, sure: 1, charges: 1 },
          ambiguous: 3,
          between: { least: 1, most: 4 },
          excess: 0,
        },
        {
          ...{ from: 3, to: 4, taken: -1, sure: 0, charges: 0 },
          ambiguous: 3,
          between: { least: -1, most: 3 },
          excess: 0,
        },
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
])('the excess of a stretch that took %s', (_, stretch, excess) => {
  const { taken, sure, ambiguous, returned } = stretch
  const between = { least: sure - returned, most: sure + ambiguous }
  expect(excessOf(taken, between)).toBe(excess)
})
