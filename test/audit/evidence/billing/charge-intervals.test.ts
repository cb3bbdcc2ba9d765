import { expect, test } from 'vitest'
import { readIntervals } from '../../../../src/audit/evidence/billing/charge-intervals.ts'
import { type SmallHistory, seeded, smallHistory } from './histories.ts'
import { type Operation, operationsOf } from './made-operations.ts'
import { isLinearizable } from './oracle.ts'

/** How often charge intervals and oracle agree over seeded histories. */
function compare(shape: SmallHistory, histories: number, seed: number) {
  const random = seeded(seed)
  const counts = { clean: 0, faulty: 0, falseAlarms: 0, missed: 0 }
  for (let at = 0; at < histories; at++) {
    const history = smallHistory(random, shape)
    const explained = isLinearizable(history)
    const quiet = readIntervals(operationsOf(history)).conflictCount === 0
    if (explained) counts[quiet ? 'clean' : 'falseAlarms']++
    else counts[quiet ? 'missed' : 'faulty']++
  }
  return counts
}

test('charge intervals agree with an exhaustive search on 40,000 histories with ambiguous charges of 1 and 2', {
  tags: 'whole',
}, () => {
  const shape = { charges: 5, unseen: 0, reads: 0, ambiguous: 3, costs: [1, 1, 2], expire: false }
  const counts = compare(shape, 40_000, 1)
  expect(counts).toMatchObject({ falseAlarms: 0, missed: 0 })
  expect(Math.min(counts.clean, counts.faulty)).toBeGreaterThan(8_000)
})

test('charge intervals agree with an exhaustive search on 20,000 histories with reads, unseen charges and expiring fills', {
  tags: 'whole',
}, () => {
  const shape = { charges: 4, unseen: 2, reads: 2, ambiguous: 2, costs: [1], expire: true }
  const counts = compare(shape, 20_000, 2)
  expect(counts).toMatchObject({ falseAlarms: 0, missed: 0 })
  expect(Math.min(counts.clean, counts.faulty)).toBeGreaterThan(4_000)
})

test('no history that has an explanation fails where unseen charges have mixed sizes', {
  tags: 'whole',
}, () => {
  const shape = { charges: 4, unseen: 2, reads: 1, ambiguous: 2, costs: [1, 2, 3], expire: true }
  const counts = compare(shape, 10_000, 3)
  expect(counts.falseAlarms).toBe(0)
  expect(counts.faulty).toBeGreaterThan(2 * counts.missed)
})

const charge = (
  callUs: number,
  untilUs: number,
  after: number | null,
  costCredits = 1,
  certain = true,
): Operation => ({ callUs, untilUs, after, costCredits, certain })

test('a balance gap names the charges around it and the time when its credits were taken', () => {
  const { conflicts } = readIntervals(
    operationsOf([charge(0, 10, 99), charge(20, 30, 98), charge(25, 45, 96), charge(50, 60, 95)]),
  )
  expect(conflicts).toEqual([
    {
      kind: 'balance-gap',
      balanceGap: { above: 1, below: 2, credits: 1, fromUs: 20, toUs: 45 },
      unexplained: 1,
    },
  ])
})

test('an ambiguous charge fills a balance gap only if it was called before the balance gap closed', () => {
  const intervals = [charge(0, 10, 99), charge(20, 30, 97)]
  const inTime = readIntervals(operationsOf([...intervals, charge(30, Infinity, null, 1, false)]))
  expect(inTime).toMatchObject({ conflictCount: 0, uncertainCredits: 1 })
  const late = readIntervals(operationsOf([...intervals, charge(31, Infinity, null, 1, false)]))
  expect(late.conflicts.map((conflict) => conflict.kind)).toEqual(['balance-gap'])
})

test('two charges that show the same balance overlap', () => {
  const { conflicts } = readIntervals(operationsOf([charge(0, 9, 99), charge(1, 8, 99)]))
  expect(conflicts).toEqual([{ kind: 'overlap', upper: 0, lower: 1, credits: 1 }])
})

test('a balance that rises against the clock is out of order', () => {
  const { conflicts } = readIntervals(operationsOf([charge(0, 9, 98), charge(10, 20, 99)]))
  expect(conflicts).toEqual([{ kind: 'order', earlier: 1, later: 0 }])
})

test('an unseen charge that does not fit between two reads is missing', () => {
  const { conflicts } = readIntervals(
    operationsOf([charge(0, 1, 100, 0), charge(2, 3, null), charge(4, 5, 100, 0)]),
  )
  expect(conflicts).toEqual([{ kind: 'missing', row: 1 }])
})

const ambiguous = (callUs: number, untilUs: number, costCredits = 1) =>
  charge(callUs, untilUs, null, costCredits, false)
const unseen = (callUs: number, untilUs: number, costCredits = 1) =>
  charge(callUs, untilUs, null, costCredits)
const read = (callUs: number, untilUs: number, after: number) => charge(callUs, untilUs, after, 0)
const balanceGap = (
  above: number,
  below: number,
  credits: number,
  fromUs: number,
  toUs: number,
) => ({
  ...{ above, below, credits, fromUs, toUs },
})
const nothing = {
  ...{ placed: 0, conflicts: [], conflictCount: 0, overlaps: 0 },
  ...{ missingCredits: 0, filled: [], uncertainCredits: 0 },
}
const overlap = (upper: number, lower: number, credits: number) => ({
  ...{ kind: 'overlap', upper, lower, credits },
})
/** Two charge intervals with a balance gap of one credit between them, which opened from 0 to 30 us. */
const oneHole = [charge(0, 10, 99), charge(20, 30, 97)]
const itsHole = balanceGap(0, 1, 1, 0, 30)
/** The same with a balance gap of three. */
const hole3 = [charge(0, 10, 99), charge(20, 30, 95)]
/** A balance gap of three, from 0 to 30 us, and one of one, from 20 to 50 us. */
const holes31 = [...hole3, charge(40, 50, 93)]

test.each([
  ['without operations there is no finding', [], nothing],
  [
    'an ambiguous charge that is called as the balance gap closes fills it, uncertainly',
    [...oneHole, ambiguous(30, Infinity)],
    { ...nothing, placed: 2, filled: [itsHole], uncertainCredits: 1 },
  ],
  [
    'an ambiguous charge with an end also fills it, uncertainly',
    [...oneHole, ambiguous(30, 60)],
    { ...nothing, placed: 2, filled: [itsHole], uncertainCredits: 1 },
  ],
  [
    'a charge without a value fills it certainly',
    [...oneHole, unseen(5, 25)],
    { ...nothing, placed: 2, filled: [itsHole] },
  ],
  [
    'a certain and an uncertain charge share a balance gap',
    [...hole3, unseen(5, 25), ambiguous(5, Infinity, 2)],
    { ...nothing, placed: 2, filled: [balanceGap(0, 1, 3, 0, 30)], uncertainCredits: 2 },
  ],
  [
    'the rest of a partly filled balance gap is missing',
    [...hole3, ambiguous(0, Infinity, 2)],
    {
      ...{ ...nothing, placed: 2, conflictCount: 1, missingCredits: 1, uncertainCredits: 2 },
      conflicts: [{ kind: 'balance-gap', balanceGap: balanceGap(0, 1, 3, 0, 30), unexplained: 1 }],
    },
  ],
  [
    'three charges that show one value overlap twice, and nothing is missing',
    [charge(0, 9, 99), charge(1, 8, 99), charge(2, 7, 99)],
    {
      ...{ ...nothing, placed: 3, conflictCount: 2, overlaps: 2 },
      conflicts: [overlap(0, 1, 1), overlap(1, 2, 1)],
    },
  ],
  [
    'credits that an overlap shows twice are not missing in a balance gap',
    [charge(0, 9, 99), charge(1, 8, 99), charge(2, 7, 96)],
    {
      ...{ ...nothing, placed: 3, conflictCount: 2, overlaps: 1, missingCredits: 1 },
      conflicts: [
        overlap(0, 1, 1),
        { kind: 'balance-gap', balanceGap: balanceGap(1, 2, 2, 1, 7), unexplained: 2 },
      ],
    },
  ],
  [
    'a dear charge at the value of a cheap one overlaps by its own cost',
    [charge(5, 6, 97, 3), charge(0, 3, 97)],
    { ...nothing, placed: 2, conflictCount: 1, overlaps: 1, conflicts: [overlap(1, 0, 3)] },
  ],
  [
    'a charge that ended before the balance gap does not fill it',
    [charge(0, 10, 99), charge(26, 30, 98), charge(40, 50, 96), ambiguous(1, 25)],
    {
      ...{ ...nothing, placed: 3, conflictCount: 1, missingCredits: 1 },
      conflicts: [{ kind: 'balance-gap', balanceGap: balanceGap(1, 2, 1, 26, 50), unexplained: 1 }],
    },
  ],
  [
    'a charge that ends as the balance gap opens fills it',
    [charge(0, 10, 99), charge(26, 30, 98), charge(40, 50, 96), ambiguous(1, 26)],
    { ...nothing, placed: 3, filled: [balanceGap(1, 2, 1, 26, 50)], uncertainCredits: 1 },
  ],
  [
    'charges of three and one fill balance gaps of three and one',
    [...holes31, ambiguous(1, Infinity, 3), ambiguous(1, Infinity)],
    {
      ...{ ...nothing, placed: 3, uncertainCredits: 4 },
      filled: [balanceGap(0, 1, 3, 0, 30), balanceGap(1, 2, 1, 20, 50)],
    },
  ],
  [
    'two charges of two do not, if neither expires',
    [...holes31, ambiguous(1, Infinity, 2), ambiguous(1, Infinity, 2)],
    {
      ...{ ...nothing, placed: 3, conflictCount: 2, missingCredits: 2, uncertainCredits: 2 },
      conflicts: [
        { kind: 'balance-gap', balanceGap: balanceGap(0, 1, 3, 0, 30), unexplained: 1 },
        { kind: 'balance-gap', balanceGap: balanceGap(1, 2, 1, 20, 50), unexplained: 1 },
      ],
    },
  ],
  [
    'two charges of two do, if one of them is certain',
    [...holes31, ambiguous(1, Infinity, 2), unseen(1, Infinity, 2)],
    {
      ...{ ...nothing, placed: 3, uncertainCredits: 2 },
      filled: [balanceGap(0, 1, 3, 0, 30), balanceGap(1, 2, 1, 20, 50)],
    },
  ],
  [
    'charges of two and one fill a balance gap of three, and another of one fills the next balance gap',
    [...holes31, ambiguous(1, Infinity, 2), ambiguous(1, Infinity), ambiguous(2, Infinity)],
    {
      ...{ ...nothing, placed: 3, uncertainCredits: 4 },
      filled: [balanceGap(0, 1, 3, 0, 30), balanceGap(1, 2, 1, 20, 50)],
    },
  ],
  [
    'a charge of one in the first balance gap is not available for the next',
    [...holes31, ambiguous(1, Infinity, 2), ambiguous(1, Infinity)],
    {
      ...{ ...nothing, placed: 3, conflictCount: 1, missingCredits: 1, uncertainCredits: 3 },
      filled: [balanceGap(0, 1, 3, 0, 30)],
      conflicts: [{ kind: 'balance-gap', balanceGap: balanceGap(1, 2, 1, 20, 50), unexplained: 1 }],
    },
  ],
  [
    'a charge of two in the first balance gap is not available for the next',
    [charge(0, 10, 99), charge(20, 30, 96), charge(40, 50, 93), ambiguous(1, Infinity, 2)],
    {
      ...{ ...nothing, placed: 3, conflictCount: 1, missingCredits: 2, uncertainCredits: 2 },
      filled: [balanceGap(0, 1, 2, 0, 30)],
      conflicts: [{ kind: 'balance-gap', balanceGap: balanceGap(1, 2, 2, 20, 50), unexplained: 2 }],
    },
  ],
  [
    'the charge that ends first fills the first balance gap',
    [
      ...[charge(0, 10, 99), charge(20, 30, 97), charge(40, 50, 95)],
      ...[ambiguous(1, 60), ambiguous(2, 15)],
    ],
    {
      ...{ ...nothing, placed: 3, uncertainCredits: 2 },
      filled: [balanceGap(0, 1, 1, 0, 30), balanceGap(1, 2, 1, 20, 50)],
    },
  ],
  [
    'a balance that rises as a call meets an end is in order',
    [charge(0, 10, 98), charge(10, 20, 99)],
    { ...nothing, placed: 2 },
  ],
  [
    'a read that shows the value of a charge comes after it',
    [read(5, 6, 99), charge(0, 3, 99)],
    { ...nothing, placed: 2 },
  ],
  [
    'reads of one value come in the order of their calls',
    [read(10, 11, 99), read(0, 1, 99)],
    { ...nothing, placed: 2 },
  ],
  [
    'a charge without a value that is called as the first ends may come before all',
    [read(0, 1, 100), unseen(1, 3), read(4, 5, 100)],
    { ...nothing, placed: 2 },
  ],
  [
    'a charge without a value that ends as the last is called may come after all',
    [read(0, 1, 100), unseen(2, 4), read(4, 5, 100)],
    { ...nothing, placed: 2 },
  ],
  [
    'of two charges for one balance gap between reads, one is missing',
    [read(0, 1, 100), unseen(2, 3), unseen(2, 3), read(4, 5, 99)],
    {
      ...{ ...nothing, placed: 2, conflictCount: 1, filled: [balanceGap(0, 3, 1, 0, 5)] },
      conflicts: [{ kind: 'missing', row: 2 }],
    },
  ],
] as const)('%s', (_, operations: readonly Operation[], reading: object) => {
  expect(readIntervals(operationsOf(operations))).toEqual(reading)
})

test('at most a thousand conflicts are kept, and all are counted', () => {
  const same = Array.from({ length: 1_003 }, (_, at) => charge(at, 2_000, 99))
  const { conflicts, conflictCount, overlaps } = readIntervals(operationsOf(same))
  expect([conflicts.length, conflictCount, overlaps]).toEqual([1_000, 1_002, 1_002])
})
