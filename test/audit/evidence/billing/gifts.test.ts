import { expect, test } from 'vitest'
import { sumsOf, withoutGifts } from '../../../../src/audit/evidence/billing/gifts.ts'
import { type HistoryRow, historyOf } from './made-history.ts'

const request = (callUs: number, endUs: number, value?: number, costCredits = 1): HistoryRow => ({
  ...{ slot: 0, callUs, endUs, effect: 'charge', costCredits },
  ...(value === undefined ? {} : { value }),
})
const read = (callUs: number, value: number): HistoryRow => ({
  ...request(callUs, callUs + 1, value, 0),
  effect: 'read',
})

test.each([
  ['falling values have no package', [read(0, 100), request(2, 3, 99)], true, [100, 99], []],
  [
    'a rise by a size of the contract is a package, and later values are lowered by it',
    [read(0, 100), read(2, 150), request(4, 5, 149)],
    true,
    [100, 100, 99],
    [[50, 1]],
  ],
  ['a rise by another size is not a package', [read(0, 100), read(2, 149)], true, [100, 149], []],
  [
    'a rise may be off by the cost of requests in flight',
    [read(0, 100), request(2, 9), read(5, 149)],
    true,
    [100, Number.NaN, 99],
    [[50, 2]],
  ],
  [
    'a rise that requests in flight may explain is not a package',
    [request(0, 9, 48, 50), request(1, 20, undefined, 2), read(5, 100)],
    true,
    [48, Number.NaN, 100],
    [],
  ],
  [
    'the nearest size is chosen',
    [read(0, 100), read(2, 200), read(4, 250)],
    true,
    [100, 100, 100],
    [
      [100, 1],
      [50, 2],
    ],
  ],
  [
    'a concurrent value from before the package is not lowered',
    [read(0, 100), request(2, 9, 99), read(3, 150), request(10, 11, 148)],
    true,
    [100, 99, 100, 98],
    [[50, 2]],
  ],
  [
    'a value before its own charge is lowered by it first',
    [request(0, 1, 100, 10), read(2, 140)],
    false,
    [100, 90],
    [[50, 1]],
  ],
  ['a first value is no rise', [read(0, 50)], true, [50], []],
  [
    'a rise by just what was in flight is none',
    [read(0, 100), request(2, 99, undefined, 50), read(5, 150)],
    true,
    [100, Number.NaN, 150],
    [],
  ],
  [
    'what has ended by then is not in flight, so a rise must be of just the size',
    [read(0, 100), request(2, 3, 99), read(5, 148)],
    true,
    [100, 99, 148],
    [],
  ],
  [
    'of two sizes as near to a rise the first is taken',
    [read(0, 100), request(2, 99, undefined, 25), read(5, 175)],
    true,
    [100, Number.NaN, 75],
    [[100, 2]],
  ],
  [
    'after two gifts a value may be from between them',
    [read(0, 100), read(2, 150), request(4, 9, 149), read(5, 249)],
    true,
    [100, 100, 99, 99],
    [
      [50, 1],
      [100, 3],
    ],
  ],
  [
    'a value after its own charge is lower by nothing more',
    [request(0, 1, 100, 10), read(2, 140)],
    true,
    [100, 140],
    [],
  ],
  [
    'nor is that of a failure, which costs nothing',
    [{ ...request(0, 1, 100, 10), effect: 'failure' }, read(2, 140)],
    false,
    [100, 140],
    [],
  ],
] as const)('%s', (_, rows, after, values, gifts) => {
  const result = withoutGifts(historyOf(rows), [100, 50, 0], () => after)
  expect([...result.history.value]).toEqual(values)
  expect(result.gifts.map(({ credits, row }) => [credits, row])).toEqual(gifts)
})

test.each([[[]], [[0]]])('with the sizes %j nothing may come in', (sizes) => {
  const history = historyOf([read(0, 100), read(2, 150)])
  expect(withoutGifts(history, sizes, () => true)).toEqual({ history, gifts: [] })
})

test('up to three packages may arrive between two values, and each sum is listed once', () => {
  expect(sumsOf([1, 10, 0])).toEqual([1, 10, 2, 11, 20, 3, 12, 21, 30])
})
