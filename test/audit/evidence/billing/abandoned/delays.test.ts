import { expect, test } from 'vitest'
import {
  delayedPolicies,
  type Leaver,
} from '../../../../../src/audit/evidence/billing/abandoned/delays.ts'

const leaver = (own: number, anchorUs: number, costCredits = 1, finishedCredits = 0): Leaver => ({
  ...{ own, anchorUs, costCredits, finishedCredits },
})
/** Least and most of each stretch, of late charges and of returned credits. */
const policies = (leavers: readonly Leaver[], readUs: readonly number[], noticeUs = 0) =>
  delayedPolicies(leavers, readUs, noticeUs).map(({ least, most }) =>
    [...least]
      .map((credits, at) => (credits === most[at] ? `${credits}` : `${credits}..${most[at]}`))
      .join(' '),
  )

test.each([
  [
    'an attempt is charged in its stretch, in a later one, or after the record',
    [leaver(0, 10)],
    [0, 100, 200],
    0,
    [
      // No delay, and one that ends as the value is read; then later, at the next value, and after
      // that.
      ...['1 0', '0 0', '1 0', '0 0'],
      ...['0 1', '1 -1', '0 1', '1 -1', '0 0', '1 0'],
    ],
  ],
  [
    'an attempt that may have finished may be charged at once',
    [leaver(0, 10, 2, 2)],
    [0, 100, 200],
    0,
    [
      ...['2 0', '0..2 0', '2 0', '0..2 0'],
      ...['0..2 0..2', '2 -2..0', '0..2 0..2', '2 -2..0', '0..2 0', '2 0'],
    ],
  ],
  [
    'an attempt near a value is charged on either side of it',
    [leaver(0, 10)],
    [0, 100, 200],
    5,
    [
      ...['1 0', '0 0'],
      ...['1 0', '0 0', '0 1', '1 -1'],
      ...['0 1', '1 -1'],
      ...['0 1', '1 -1', '0 0', '1 0'],
      ...['0 1', '1 -1', '0 0', '1 0'],
    ],
  ],
  [
    'one microsecond before a value it lies before it',
    [leaver(0, 99)],
    [0, 100, 200],
    0,
    // Delays of 0, 1, 51, 101 and 102 us.
    ['1 0', '0 0', '1 0', '0 0', '0 1', '1 -1', '0 1', '1 -1', '0 0', '1 0'],
  ],
  [
    'without a delay it lies before a value that it would have been noticed by',
    [leaver(0, 10)],
    [0, 15, 200],
    5,
    [
      ...['1 0', '0 0'],
      // As the value is read, and then between the values.
      ...['1 0', '0 0', '0 1', '1 -1'],
      ...['0 1', '1 -1'],
      // As the last value is read, and beyond.
      ...['0 1', '1 -1', '0 0', '1 0'],
      ...['0 1', '1 -1', '0 0', '1 0'],
    ],
  ],
] as const)('%s', (_, leavers, readUs, noticeUs, found) => {
  expect(policies(leavers, readUs, noticeUs)).toEqual(found)
})

test('four attempts near a value are tried in every combination, five only in order of time', () => {
  const about = (count: number) =>
    policies(
      Array.from({ length: count }, (_, at) => leaver(0, at, 2 ** at)),
      [-1_000, 50, 1_000],
      200,
    )
  const first = (count: number, ways: number) =>
    about(count)
      .slice(0, 2 * ways)
      .filter((_, at) => at % 2 === 0)
  expect(first(4, 16)).toEqual(Array.from({ length: 16 }, (_, late) => `${15 - late} ${late}`))
  // Without a delay, and with the one by which the last of them is charged as the value is read.
  const lastOnes = ['0 31', '1 30', '3 28', '7 24', '15 16', '31 0']
  expect(first(5, 12)).toEqual([...lastOnes, ...lastOnes])
})
