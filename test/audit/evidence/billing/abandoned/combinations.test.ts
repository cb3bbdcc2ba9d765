import { expect, test } from 'vitest'
import {
  isLegal,
  nearestOf,
  unlike,
} from '../../../../../src/audit/evidence/billing/abandoned/combinations.ts'
import {
  add,
  type Ranges,
  ranges,
} from '../../../../../src/audit/evidence/billing/abandoned/ranges.ts'

const range = (least: readonly number[], most = least): Ranges => ({
  least: Float64Array.from(least),
  most: Float64Array.from(most),
})

test('add() adds to one stretch, or to none', () => {
  const sums = ranges(2)
  for (const at of [-1, 0, 1, 1, 2]) add(sums, at, 1 + at, 5)
  expect(sums).toEqual(range([1, 4], [5, 10]))
})

test('policies that charge the same in every stretch are merged', () => {
  const same = [range([1, 2], [3, 4]), range([1, 2], [3, 4])]
  const others = [range([1, 2], [3, 5]), range([1, 1], [3, 4])]
  expect(unlike([...same, ...others])).toEqual([same[1], ...others])
})

const policy = (charged: readonly number[], least: readonly number[], most = least) => ({
  ...{ ...range(least, most), charged },
})

test.each([
  ['without policies, the sum that the fixed part does not take remains', [5, 3], [], [2, 3], []],
  [
    'of two policies, the one with the smaller remainder is chosen',
    [5, 3],
    [[policy([1], [0, 0]), policy([2], [1, 3])]],
    [1, 0],
    [2],
  ],
  [
    'of two policies with equal remainders, the first is chosen',
    [5, 3],
    [[policy([1], [2, 0]), policy([2], [0, 2])]],
    [0, 3],
    [1],
  ],
  [
    'one policy of each kind is chosen, and their charges are combined',
    [9, 9],
    [
      [policy([1], [0, 0]), policy([2], [4, 4])],
      [policy([3], [2, 5]), policy([4], [0, 0])],
    ],
    [0, 0],
    [2, 3],
  ],
  [
    'possible charges leave no remainder, and surplus certain charges leave a negative one',
    [5, 2, 3],
    [[policy([1], [0, 4, 1], [2, 4, 3])]],
    [0, -2, 0],
    [1],
  ],
] as const)('%s', (_, taken, kinds, off, charged) => {
  const fixed = range(taken.map((__, at) => (at === 0 ? 3 : 0)))
  expect(nearestOf([...taken], fixed, kinds as never)).toEqual({
    ...{ off, charged: new Set<number>(charged) },
  })
})

const explained = (
  taken: readonly number[],
  kinds: readonly (readonly Ranges[])[],
  fixed = range(taken.map(() => 0)),
  leastLog = -Infinity,
) => isLegal(taken, fixed, kinds, leastLog)

test.each([
  ['a policy that charges just the taken credits explains them', [2, 1], [[range([2, 1])]], true],
  ['a policy that charges less does not', [2, 1], [[range([2, 0])]], false],
  ['a policy that charges more does not', [2, 1], [[range([2, 2])]], false],
  ['a policy whose range includes the taken credits does', [2, 1], [[range([0, 0], [2, 1])]], true],
  ['a policy that certainly charges more does not', [2, 1], [[range([0, 2], [2, 2])]], false],
  ['without policies nothing is explained', [2, 1], [[]], false],
  [
    'one policy of each kind together explain the taken credits',
    [2, 1],
    [
      [range([5, 5]), range([2, 0])],
      [range([9, 9]), range([0, 1])],
    ],
    true,
  ],
  [
    'together they do not if the open charge fits either stretch but not both',
    [2, 1],
    [
      [range([2, 0]), range([1, 1])],
      [range([0, 0]), range([0, 2])],
    ],
    false,
  ],
  [
    'of three kinds, the most numerous is looked up by the remainder',
    [4, 4],
    [
      [range([0, 1]), range([1, 0])],
      [range([1, 1]), range([2, 2]), range([3, 3]), range([0, 4])],
      [range([0, 1]), range([9, 0])],
    ],
    true,
  ],
  [
    'a certain policy explains the remainder of the others',
    [4, 4],
    [
      [range([0, 0], [1, 1]), range([0, 0], [1, 0])],
      [range([9, 9]), range([3, 4]), range([0, 0])],
    ],
    true,
  ],
  [
    'an open policy explains the remainder of certain ones',
    [4, 4],
    [[range([3, 3])], [range([9, 9]), range([0, 0], [1, 1]), range([0, 0])]],
    true,
  ],
  [
    'one that may charge too little in the first stretch does not explain it',
    [2, 1],
    [[range([0, 0], [1, 1])]],
    false,
  ],
  [
    'where one policy of each kind fits alone, together the others of both may be needed',
    [2, 2],
    [
      [range([1, 0]), range([0, 1])],
      [range([1, 1]), range([2, 1]), range([2, 2])],
    ],
    true,
  ],
  [
    'where each fits with some policy of the other in each stretch, none may fit in both',
    [2, 2],
    [
      [range([1, 0]), range([0, 1])],
      [range([1, 1]), range([2, 2])],
    ],
    false,
  ],
  [
    'of three sure ones that all fit in each stretch, one explains what others leave open',
    [2, 3],
    [
      [range([1, 0], [2, 0]), range([0, 1], [1, 1])],
      [range([0, 2]), range([2, 3]), range([1, 2])],
    ],
    true,
  ],
  [
    'a policy that leaves one stretch open explains what sure ones leave',
    [4, 4],
    [
      [range([3, 3]), range([2, 2])],
      [range([0, 1], [1, 1]), range([2, 1]), range([1, 2])],
    ],
    true,
  ],
  [
    'so do two policies that both leave all stretches open',
    [4, 4],
    [
      [range([3, 3], [4, 4]), range([2, 2])],
      [range([0, 0], [1, 1]), range([2, 1]), range([1, 2])],
    ],
    true,
  ],
] as const)('%s', (_, taken, kinds, is) => {
  expect(explained(taken, kinds)).toBe(is)
})

test('the fixed part of the charges is included', () => {
  expect(explained([2, 1], [[range([1, 1])]], range([1, 0]))).toBe(true)
  expect(explained([2, 1], [[range([2, 1])]], range([1, 0]))).toBe(false)
  expect(explained([2, 1], [[range([0, 0])]], range([0, 0], [2, 1]))).toBe(true)
})

test('a coincidental fit explains nothing: its likelihood must reach the least', () => {
  // One of two in each of two stretches has a likelihood of 1/4.
  const open = [[range([0, 0], [2, 2])]]
  expect(explained([1, 1], open, undefined, Math.log(0.2501))).toBe(false)
  expect(explained([1, 1], open, undefined, Math.log(0.2499))).toBe(true)
  expect(explained([1, 1], [[range([1, 1])]], undefined, 0)).toBe(true)
})
