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
  more: {
    credits?: number
    charged?: readonly number[]
    meaning?: typeof after | object
    from?: number
  } = {},
) => {
  const history = historyOf(rows)
  const { credits = 1, charged = [], meaning = after, from = 0 } = more
  return placesOfStep(history, meaning as typeof after, {
    ...{ from, to: history.size - 1, credits, isProven: true, charged: new Set(charged) },
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
    balanceGap: { above: 3, below: 4, credits: 1, fromUs: 100, toUs: 600 },
    ...{ fromUs: 100, toUs: 600 },
  })
  expect(all.map(({ balanceGap: { above, below } }) => [above, below])).toEqual([
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
      balanceGap: { above: 0, below: 1, credits: 1, fromUs: 0, toUs: 700 },
      ...{ fromUs: 0, toUs: 700, share: 1 },
    },
  ])
})

const at = (all: ReturnType<typeof places>) => {
  const [{ balanceGap, share: part }] = all as [(typeof all)[number]]
  return [balanceGap.above, balanceGap.below, Number(part.toFixed(6))]
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
      ...[read(0, 0, 100), charge(1, 100, 99), charge(2, 150, undefined, { endUs: 260 })],
      ...[charge(3, 200, 97), charge(4, 300, 95), charge(5, 400, 94), read(6, 500, 94)],
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
    'a stretch may lie between two charges that show the balance before them',
    [102, 101, 100, 99, 97, 96, 95].map((value, nth) => charge(nth, 100 * nth, value)),
    { meaning: { plain: 'before', stream: 'before' }, from: 1 },
    [3, 4, share(0, misfits4)],
  ],
  [
    'a refused request begins a stretch with the balance that it shows',
    [{ ...charge(0, 0, 100), effect: 'failure' as const }, ...steps([100, 99, 97, 96]).slice(1)],
    { meaning: { plain: 'before', stream: 'before' } },
    [2, 3, share(0, misfits4)],
  ],
  [
    'values are ordered by what they show, not by their calls',
    // By calls, the misfits are 0, 1, 0, 1, 2 from the first place on.
    steps([98, 99, 96, 95]),
    {},
    [1, 3, share(0, misfits4)],
  ],
  [
    'a step of two credits counts a misfit of one half',
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
    balanceGap: { above: 3, below: 2 },
    ...{ fromUs: 960, toUs: 1_000 },
  })
})

test('whether a step has the time of calls or of reads is seen along the values', () => {
  // Taken as they were read: 2, 4, 1, 3. Along the values calls are 200, 300 and 200 us apart, reads 200 us.
  const rows = [
    read(0, 0, 100),
    charge(1, 100, 96, { readUs: 900, endUs: 2_000 }),
    charge(2, 200, 99, { readUs: 500, endUs: 2_000 }),
    charge(3, 300, 95, { readUs: 1_100, endUs: 2_000 }),
    charge(4, 400, 98, { readUs: 700, endUs: 2_000 }),
    read(5, 3_000, 95),
  ]
  expect(places(rows)[0]).toMatchObject({
    balanceGap: { above: 4, below: 1 },
    ...{ fromUs: 500, toUs: 1_100 },
  })
})

test('of values alike the earlier comes first', () => {
  // Read in the order 5, 4, 3, 2, 1; beyond their own costs they fall by 0, 0, 0, 1 and 0.
  const rows = [
    read(0, 0, 100),
    ...[95, 95, 97, 98, 99].map((value, nth) =>
      charge(nth + 1, 100 + nth * 100, value, { readUs: 1_000 - nth * 10, endUs: 1_000 }),
    ),
    read(6, 2_000, 95),
  ]
  expect(places(rows).slice(0, 2)).toMatchObject([
    { balanceGap: { above: 3, below: 2 } },
    { balanceGap: { above: 1, below: 6 } },
  ])
})

test('a stretch of very many values has its places, too', { tags: 'whole' }, () => {
  const count = 200_000
  const values = Array.from({ length: count }, (_, nth) => count - 1 - nth - (nth < 90 ? 0 : 1))
  const rows = steps(values)
  const [first, second, ...others] = places([read(0, 0, count), ...rows.slice(1)])
  expect(first!.balanceGap).toMatchObject({ above: 90, below: 91 })
  // On either side, a place that is n values from the step has e^-n of its weight.
  const all = (1 + Math.exp(-1)) / (1 - Math.exp(-1))
  expect(first!.share).toBeCloseTo(1 / all, 9)
  expect(second!.share).toBeCloseTo(Math.exp(-1) / all, 9)
  expect(others).toHaveLength(62)
})

test('no more than 64 places are named', () => {
  const values = Array.from({ length: 70 }, (_, nth) => 99 - nth - (nth < 35 ? 0 : 1))
  expect(places(steps(values))).toHaveLength(64)
})
