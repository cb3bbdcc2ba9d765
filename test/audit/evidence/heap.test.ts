import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Heap } from '../../../src/audit/evidence/heap.ts'

test('a heap gives back its items in order, whenever they are pushed, changed and popped', () => {
  const keys = fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 1, maxLength: 40 })
  const turns = fc.array(fc.constantFrom('push', 'pop', 'change'))
  fc.assert(
    fc.property(keys, turns, (all, then) => {
      const heap = new Heap<{ key: number }>((a, b) => a.key - b.key)
      const kept: number[] = []
      const shows = () => {
        kept.sort((a, b) => a - b)
        expect(heap.first?.key).toBe(kept[0])
      }
      for (const [at, key] of all.entries()) {
        heap.push({ key })
        kept.push(key)
        shows()
        if (then[at] === 'pop') {
          heap.pop()
          kept.shift()
        }
        if (then[at] === 'change') {
          heap.first!.key += key
          kept[0]! += key
          heap.sink()
        }
        shows()
      }
      for (; kept.length > 0; kept.shift()) {
        shows()
        heap.pop()
      }
      expect(heap.first).toBeUndefined()
    }),
  )
})

test('each of several equal items comes back once', () => {
  const keys = [3, 1, 2, 1, 3]
  const heap = new Heap<number>((a, b) => keys[a]! - keys[b]!)
  for (const row of keys.keys()) heap.push(row)
  const rows: number[] = []
  for (; heap.first !== undefined; heap.pop()) rows.push(heap.first)
  expect(rows.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4])
})
