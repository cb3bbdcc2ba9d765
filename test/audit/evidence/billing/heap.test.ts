import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Heap } from '../../../../src/audit/evidence/billing/heap.ts'

test('a heap gives back its rows by their keys, whenever they are pushed and popped', () => {
  const keys = fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 1, maxLength: 40 })
  fc.assert(
    fc.property(keys, fc.array(fc.boolean()), (all, pops) => {
      const heap = new Heap(Float64Array.from(all), all.length)
      const kept: number[] = []
      const pop = () => {
        kept.sort((a, b) => a - b)
        expect(all[heap.top]).toBe(kept[0])
        expect(all[heap.pop()]).toBe(kept.shift())
        expect(heap.size).toBe(kept.length)
      }
      for (const [row, key] of all.entries()) {
        heap.push(row)
        kept.push(key)
        expect(heap.size).toBe(kept.length)
        if (pops[row] === true) pop()
      }
      while (kept.length > 0) pop()
    }),
  )
})

test('each row comes back once', () => {
  const heap = new Heap(Float64Array.from([3, 1, 2, 1, 3]), 5)
  for (const row of [0, 1, 2, 3, 4]) heap.push(row)
  const rows = Array.from({ length: 5 }, () => heap.pop())
  expect(rows.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4])
})
