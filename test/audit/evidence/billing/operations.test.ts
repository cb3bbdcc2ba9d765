import fc from 'fast-check'
import { expect, test } from 'vitest'
import { rowsWhere } from '../../../../src/audit/evidence/billing/operations.ts'

test('rows are those that are chosen, in their order or sorted, alike ones in their order', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -3, max: 3 })), (keys) => {
      const isChosen = (row: number) => keys[row] !== 0
      const rows = keys.map((_, row) => row).filter(isChosen)
      expect([...rowsWhere(keys.length, isChosen)]).toEqual(rows)
      const byKey = (a: number, b: number) => keys[a]! - keys[b]!
      expect([...rowsWhere(keys.length, isChosen, byKey)]).toEqual(rows.toSorted(byKey))
    }),
  )
})

test('rows that are in their order already are compared once each', () => {
  let compared = 0
  const rows = rowsWhere(
    100,
    () => true,
    (a, b) => {
      compared++
      return Math.floor(a / 2) - Math.floor(b / 2)
    },
  )
  expect([rows.length, compared]).toEqual([100, 99])
})
