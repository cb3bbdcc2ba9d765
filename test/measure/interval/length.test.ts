import { expect, test } from 'vitest'
import {
  neededFor,
  neededForLinear,
  neededForMean,
  neededForPercentile,
  neededOfNone,
  neededToTell,
} from '../../../src/measure/interval/length.ts'
import type { Series } from '../../../src/measure/interval/series.ts'

test('a figure one error from its bound needs six times the requests, and a far one a fifth more', () => {
  // 1.5 for the noise of a repetition, and 2² for an interval of two errors.
  expect(neededFor(100, 2, 1)).toBe(600)
  expect(neededFor(100, 2, -2)).toBe(150)
  expect(neededFor(100, 2, 100)).toBe(120)
  // Nearer than a quarter of an error is not told apart.
  expect([0.25, 0.1, 0].map((distance) => neededFor(100, 2, distance))).toEqual([9600, 9600, 9600])
  expect(neededFor(100, 2, 1, 10)).toBe(1200)
})

interface Told {
  readonly worth?: number
  readonly within?: readonly [number, number]
  readonly lacking?: number
}
const percentiles = ({ worth = 4, within = [1, 1], lacking = 0 }: Told) =>
  ({
    n: 100,
    lacking,
    percentile: () => ({ worth, t: 2 }),
    within: () => within,
  }) as unknown as Series

test('a percentile needs requests by how far the share below its bound is from its own', () => {
  const needed = (told: Told, p = 0.5) => neededForPercentile(percentiles(told), p, 1)
  // An error is sqrt(0.5 · 0.5 / 4), a quarter.
  expect(needed({ within: [0.75, 0.99] })).toBe(600)
  expect(needed({ within: [0, 0.25] })).toBe(600)
  expect(needed({ within: [1, 1] })).toBe(150)
  expect(needed({ within: [0.5, 0.75] })).toBe(9600)
  expect(needed({ within: [0.4, 0.5] })).toBeNull()
  expect(needed({ within: [0.25, 0.75] })).toBeNull()
  expect(needed({ lacking: 20 })).toBe(2400)
  // Both bounds of a p99 take 4.5 · 99 = 445.5 independent requests, and those of a p1, too: 445.5 / 7 · 1.2 times as many.
  expect(needed({ worth: 7, within: [0, 0.1] }, 0.99)).toBe(7638)
  expect(needed({ worth: 7, within: [1, 1] }, 0.01)).toBe(7638)
})

test('a mean needs requests by the logarithm of how far its bound is, and none tells an open one', () => {
  const needed = (change: object, bound = 8, lacking = 0) =>
    neededForMean(
      {
        ...{ n: 100, isOpen: false, lacking },
        mean: () => ({ value: 4, low: 2, t: 2, ...change }),
        ...('isOpen' in change ? change : {}),
      } as unknown as Series,
      bound,
    )
  // An error is half of ln 2, and the bound is ln 2 away.
  expect(needed({})).toBe(150)
  expect(needed({}, 2)).toBe(150)
  expect(needed({}, 4 * Math.SQRT2)).toBe(600)
  expect(needed({}, 8, 5)).toBe(600)
  const unknown = [{ isOpen: true }, { value: 0 }, { value: -1 }, { low: null }]
  expect(unknown.map((change) => needed(change))).toEqual([null, null, null, null])
  expect([needed({}, 0), needed({}, -1)]).toEqual([null, null])
  expect(needed({ value: 0.5, low: 0.25 }, 0.5 * Math.SQRT2)).toBe(600)
  expect(needed({}, 0.5)).not.toBeNull()
})

test('a share needs requests by its distance on a straight scale, and one without variance a fifth more', () => {
  const share = { value: 0.5, low: null, high: null, worth: 16, t: 2 }
  expect(neededForLinear(100, share, 0.25, 1)).toBe(600)
  expect(neededForLinear(100, share, 1, 1)).toBe(150)
  expect(neededForLinear(100, { ...share, worth: 4 }, 1, 1)).toBe(600)
  expect(neededForLinear(100, share, 0.25, 0)).toBe(120)
})

test('a change needs requests by its part of half of its interval, or by its bounds without one', () => {
  expect(neededToTell(100, 2, [1, 3], null)).toBe(120)
  expect(neededToTell(100, 0.5, [1, 3], null)).toBe(600)
  expect(neededToTell(100, -0.5, [1, 3], null)).toBe(600)
  expect(neededToTell(100, 0, [1, 3], null)).toBe(2400)
  expect(neededToTell(100, 1, [2, 2], 9)).toBeNull()
  expect(neededToTell(100, 1, null, null)).toBeNull()
  expect([null, [null, 3], [1, null]].map((each) => neededToTell(100, 1, each as null, 3))).toEqual(
    [360, 360, 360],
  )
  expect(neededToTell(100, 1, null, 0.5)).toBe(120)
})

test('29, 59 and 299 requests without one beyond a limit decide a p90, p95 and p99, and 11 a lower one', () => {
  expect([0.1, 0.05, 0.01, 0.5].map(neededOfNone)).toEqual([29, 59, 299, 11])
})
