import { expect, test } from 'vitest'
import { placesOfStep } from '../../../../src/audit/evidence/billing/step.ts'
import { type HistoryRow, historyOf } from './made-history.ts'

const after = { plain: 'after', stream: 'after' } as const
const read = (slot: number, callUs: number, value: number): HistoryRow => ({
  ...{ slot, callUs, endUs: callUs + 1, effect: 'read', costCredits: 0, value },
})
/** A charge of one credit, in flight for 50 us. */
const charge = (slot: number, callUs: number, value?: number, more: Partial<HistoryRow> = {}) => ({
  ...({ slot, callUs, endUs: callUs + 50, effect: 'charge', costCredits: 1 } as const),
  ...(value === undefined ? {} : { value }),
  ...more,
})
const left = (slot: number, callUs: number, endUs: number, costCredits = 1): HistoryRow => ({
  ...{ slot, callUs, endUs, costCredits, effect: 'ambiguous', abandonment: 'timeout' },
})
const places = (
  rows: readonly HistoryRow[],
  more: { credits?: number; charged?: readonly number[]; meaning?: typeof after | object } = {},
) => {
  const history = historyOf(rows)
  const { credits = 1, charged = [], meaning = after } = more
  return placesOfStep(history, meaning as typeof after, {
    ...{ from: 0, to: history.size - 1, credits, isProven: true, charged: new Set(charged) },
  })
}
/** The share of a place that this many values contradict, given the count for each place. */
const share = (misfit: number, all: readonly number[]) =>
  Math.exp(-misfit) / all.reduce((sum, each) => sum + Math.exp(-each), 0)

/**
 * Charges 100 us apart that each show one credit less, and one more credit less from one point on.
 */
const steps = (values: readonly number[], more: Partial<HistoryRow> = {}) => [
  read(0, 0, 100),
  ...values.map((value, at) => charge(at + 1, 100 * (at + 1), value, more)),
  read(values.length + 1, 100 * (values.length + 1), values.at(-1)!),
]

test('the step is the point where values fall by one credit more than the requests cost', () => {
  const all = places(steps([99, 98, 97, 95, 94, 93]))
  const misfits = [0, 1, 1, 2, 2, 3, 3]
  expect(all.map((each) => each.share)).toEqual(
    misfits.map((misfit) => expect.closeTo(share(misfit, misfits), 9)),
  )
  // Three values on each side show the time.
  expect(all[0]).toMatchObject({
    hole: { above: 3, below: 4, credits: 1, fromUs: 100, toUs: 600 },
    ...{ fromUs: 100, toUs: 600 },
  })
  expect(all.map(({ hole: { above, below } }) => [above, below])).toEqual([
    [3, 4],
    [2, 3],
    [4, 5],
    [1, 2],
    [5, 6],
    [0, 1],
    [6, 7],
  ])
  expect(all.slice(3).map(({ fromUs, toUs }) => [fromUs, toUs])).toEqual([
    [100, 400],
    [300, 600],
    [100, 300],
    [400, 600],
  ])
})

test('a stretch without a value has one place, between its two settled values', () => {
  expect(places([read(0, 0, 100), read(1, 700, 99)])).toEqual([
    {
      hole: { above: 0, below: 1, credits: 1, fromUs: 0, toUs: 700 },
      ...{ fromUs: 0, toUs: 700, share: 1 },
    },
  ])
})

const at = (all: ReturnType<typeof places>) => {
  const [{ hole, share: part }] = all as [(typeof all)[number]]
  return [hole.above, hole.below, Number(part.toFixed(6))]
}
const misfits3 = [0, 1, 1, 2, 3]
const misfits4 = [0, 1, 1, 2, 2]

test.each([
  [
    'credits held from the call to the end of an abandoned attempt are not a step',
    [
      ...[read(0, 0, 100), charge(1, 100, 99), left(2, 150, 350), charge(3, 200, 97)],
      ...[charge(4, 300, 96), charge(5, 400, 95), read(6, 500, 95)],
    ],
    {},
    [4, 5, share(0, misfits3)],
  ],
  [
    'a charge without a value lowers the values after it',
    [
      ...[read(0, 0, 100), charge(1, 100, 99), charge(2, 150), charge(3, 200, 97)],
      ...[charge(4, 300, 95), charge(5, 400, 94), read(6, 500, 94)],
    ],
    {},
    [3, 4, share(0, misfits4)],
  ],
  [
    'an abandoned attempt that was charged lowers them, too',
    [
      ...[read(0, 0, 100), charge(1, 100, 99), left(2, 150, 160), charge(3, 200, 97)],
      ...[charge(4, 300, 95), charge(5, 400, 94), read(6, 500, 94)],
    ],
    { charged: [2] },
    [3, 4, share(0, misfits4)],
  ],
  [
    "a stream's value before its own charge is lowered by it",
    steps([100, 99, 97, 96], { streamed: true }),
    { meaning: { plain: 'after', stream: 'before' } },
    [2, 3, share(0, misfits4)],
  ],
  [
    "a plain answer's value before its own charge is lowered by it",
    steps([100, 99, 97, 96]),
    { meaning: { plain: 'before', stream: 'after' } },
    [2, 3, share(0, misfits4)],
  ],
  [
    'in a step of two credits, a misfit counts half',
    steps([99, 98, 95, 94]),
    { credits: 2 },
    [2, 3, share(0, misfits4)],
  ],
] as const)('%s', (_, rows, more, [above, below, part]) => {
  expect(at(places(rows, more))).toEqual([above, below, Number(part.toFixed(6))])
})

test('if values fall in the order of reads, a step has the times of the reads', () => {
  // Each later call was read 10 us earlier, and shows a credit more.
  const rows = [
    read(0, 0, 100),
    ...[94, 95, 97, 98, 99].map((value, nth) =>
      charge(nth + 1, 100 + nth * 100, value, { readUs: 1_000 - nth * 10, endUs: 1_000 }),
    ),
    read(6, 2_000, 94),
  ]
  expect(places(rows)[0]).toMatchObject({
    hole: { above: 3, below: 2 },
    ...{ fromUs: 960, toUs: 1_000 },
  })
})

test('at most 64 places are named', () => {
  const values = Array.from({ length: 70 }, (_, nth) => 99 - nth - (nth < 35 ? 0 : 1))
  expect(places(steps(values))).toHaveLength(64)
})
