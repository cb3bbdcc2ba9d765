import { expect, test } from 'vitest'
import { logLikelihoodOf } from '../../../../../src/audit/evidence/billing/abandoned/chance.ts'
import { isLegal } from '../../../../../src/audit/evidence/billing/abandoned/combinations.ts'
import type { Ranges } from '../../../../../src/audit/evidence/billing/abandoned/ranges.ts'

const range = (least: number[], most: number[]): Ranges => ({
  least: Float64Array.from(least),
  most: Float64Array.from(most),
})

test('sums without open credits are certain or impossible', () => {
  const parts = [range([1, 2], [1, 2]), range([3, 0], [3, 0])]
  expect(logLikelihoodOf([4, 2], parts)).toBe(0)
  expect(logLikelihoodOf([4, 3], parts)).toBe(-Infinity)
})

test('each open credit counts as a coin toss with the likeliest chance', () => {
  // One of two in each stretch: chance 1/2, and 2 of 4 ways.
  expect(logLikelihoodOf([1, 1], [range([0, 0], [2, 2])])).toBeCloseTo(2 * Math.log(1 / 2), 6)
  // One of four in all: 4 x 1/4 x (3/4)^3, then (3/4)^4 for a stretch without any.
  expect(logLikelihoodOf([1, 0], [range([0, 0], [2, 2])])).toBeCloseTo(
    Math.log(2 * (1 / 4) * (3 / 4)) + 2 * Math.log(3 / 4),
    6,
  )
})

test('in a stretch with two open parts every way to share the credits counts', () => {
  // Two of three: the part of two credits has a chance of 3/4, that of one has 1/2, as (2 - 1/2) / 2 and 2 - 2 * 3/4.
  const parts = [range([0], [2]), range([0], [1])]
  // Both of the first and not the second, or one of the first in two ways and the second.
  expect(logLikelihoodOf([2], parts)).toBeCloseTo(Math.log(9 / 16 / 2 + (2 * 3) / 16 / 2), 9)
})

test('parts of one stretch have a chance of one half each where that fits', () => {
  // So do 3/8 and 3/4, and others. 20 ways to choose three of six.
  const parts = [range([0], [4]), range([0], [2])]
  expect(logLikelihoodOf([3], parts)).toBeCloseTo(Math.log(20 / 64), 9)
})

test('a stretch counts for the chance by what it leaves open, over its variance', () => {
  // One of one is charged, and three of nine. Least squares, each stretch over a tenth and its variance.
  const slopeAt = (chance: number) =>
    [
      [1, 1],
      [9, 3],
    ].reduce(
      (sum, [open, taken]) =>
        sum + (open! * (taken! - open! * chance)) / (0.1 + open! * chance * (1 - chance)),
      0,
    )
  let [low, high] = [0, 1]
  while (high - low > 1e-15) {
    const middle = (low + high) / 2
    if (slopeAt(middle) > 0) low = middle
    else high = middle
  }
  // 84 ways to choose three of nine.
  expect(logLikelihoodOf([1, 3], [range([0, 0], [1, 9])])).toBeCloseTo(
    Math.log(low) + Math.log(84 * low ** 3 * (1 - low) ** 6),
    9,
  )
})

test('where all or none of thirteen credits are charged, half a credit is left to the other side', () => {
  const part = range([0, 0], [9, 4])
  expect(logLikelihoodOf([9, 4], [part])).toBeCloseTo(13 * Math.log(25 / 26), 9)
  expect(logLikelihoodOf([0, 0], [part])).toBeCloseTo(13 * Math.log(25 / 26), 9)
})

test('two parts with chances of their own: all of the one and none of the other are likely', () => {
  const parts = [range([0, 0, 0], [9, 4, 7]), range([0, 0, 0], [2, 8, 5])]
  // Half a credit falls to the other side of each.
  expect(logLikelihoodOf([9, 4, 7], parts)).toBeGreaterThan(-1.2)
  expect(logLikelihoodOf([9, 4, 7], parts)).toBeLessThan(-0.8)
})

const stretches = 16
const everywhere = (credits: number) => Array<number>(stretches).fill(credits)
const oneMore = everywhere(30).with(5, 31)
const sure = range(everywhere(0), everywhere(0))

test('a policy that leaves much open does not explain sums that a plain policy misses by one', () => {
  // In each stretch, thirty aborts, of which any number is charged, and twelve timeouts, all
  // charged.
  const aborts = [range(everywhere(5), everywhere(30))]
  const timeouts = [range(everywhere(12), everywhere(12))]
  expect(isLegal(oneMore, sure, [aborts, timeouts], -Infinity)).toBe(true)
  expect(isLegal(oneMore, sure, [aborts, timeouts], Math.log(1e-6))).toBe(false)
})

test('one attempt that may be charged explains one credit', () => {
  const aborts = [range(everywhere(30), everywhere(30).with(5, 31).with(9, 31))]
  expect(isLegal(oneMore, sure, [aborts], Math.log(1e-6))).toBe(true)
})

test('policies that leave nothing open are found by the credits that remain', () => {
  const aborts = Array.from({ length: 40 }, (_, of) => range(everywhere(of), everywhere(of)))
  const moved = [3, 5].map((at) => everywhere(2).with(at, 3)).map((each) => range(each, each))
  expect(isLegal(oneMore, sure, [aborts, moved], Math.log(1e-6))).toBe(true)
  expect(isLegal(oneMore, sure, [aborts, [moved[0]!]], Math.log(1e-6))).toBe(false)
})
