import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Batch } from '../../src/attempt/batch.ts'
import { SharedValues } from '../../src/store/attempts/shared-values.ts'

const columns = ['retry', 'shard', 'flags'] as const
type Triple = readonly [number, number, number]

function batchOf(triples: readonly Triple[]): Batch {
  const batch = new Batch()
  for (const [row, triple] of triples.entries()) {
    for (const [at, name] of columns.entries()) batch.columns[name][row] = triple[at]!
  }
  return batch
}

test('rows have the same number exactly if all their values are equal, over all batches', () => {
  const value = fc.constantFrom(0, 1, 2, 2 ** 31 - 1)
  const triple = fc.tuple(value, value, value)
  fc.assert(
    fc.property(fc.array(fc.array(triple, { minLength: 1, maxLength: 200 })), (batches) => {
      let next = 0
      const values = new SharedValues(columns, () => next++)
      const numberOf = new Map<string, number>()
      for (const triples of batches) {
        const into = new Int32Array(triples.length)
        const fresh = values.number(batchOf(triples).columns, triples.length, into)
        for (const [row, triple] of triples.entries()) {
          const isFresh = !numberOf.has(triple.join())
          if (isFresh) numberOf.set(triple.join(), into[row]!)
          expect(fresh.includes(row)).toBe(isFresh)
          expect(into[row]).toBe(numberOf.get(triple.join()))
        }
      }
      expect(next).toBe(numberOf.size)
    }),
  )
})

test('endless new values are forgotten and renumbered, so memory is bounded', () => {
  let next = 0
  const values = new SharedValues(columns, () => next++)
  const into = new Int32Array(2048)
  for (let round = 0; round < 40; round++) {
    const batch = batchOf(Array.from({ length: 2048 }, (_, row) => [round, row, 0] as const))
    expect(values.number(batch.columns, 2048, into)).toHaveLength(2048)
  }
  const again = batchOf([
    [39, 2047, 0],
    [0, 0, 0],
  ])
  expect(values.number(again.columns, 2, into)).toEqual([1])
  expect([into[0], into[1]]).toEqual([40 * 2048 - 1, 40 * 2048])
})
