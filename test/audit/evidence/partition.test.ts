import fc from 'fast-check'
import { expect, test } from 'vitest'
import { eachGroupOnDisk, type RowOrder } from '../../../src/audit/evidence/partition.ts'

const byTimeThenName: RowOrder =
  ([times, names]) =>
  (a, b) =>
    times![a]! - times![b]! || names![a]! - names![b]!

const drawnBatches = fc.array(
  fc.array(fc.record({ group: fc.nat(4), time: fc.nat(5) }), { minLength: 1, maxLength: 9 }),
  { maxLength: 8 },
)

test('each group comes once, in order of its number, with all its rows in order', async () => {
  await fc.assert(
    fc.asyncProperty(drawnBatches, fc.integer({ min: 1, max: 12 }), async (batches, rowsAtOnce) => {
      let name = 0
      const rows = batches.map((batch) => batch.map((row) => ({ ...row, name: name++ })))
      const found: [number, number[][]][] = []
      await eachGroupOnDisk(
        async (take) => {
          for (const batch of rows) {
            take([
              Float64Array.from(batch, ({ group }) => group),
              Float64Array.from(batch, ({ time }) => time),
              Float64Array.from(batch, (row) => row.name),
            ])
          }
        },
        ':memory:',
        byTimeThenName,
        (group, columns) => {
          found.push([group, columns.map((column) => [...column])])
        },
        rowsAtOnce,
      )
      const groups = Map.groupBy(rows.flat(), ({ group }) => group)
      const expected = [...groups]
        .sort(([a], [b]) => a - b)
        .map(([group, own]) => {
          const sorted = own.toSorted((a, b) => a.time - b.time || a.name - b.name)
          return [group, [sorted.map(({ time }) => time), sorted.map((row) => row.name)]]
        })
      expect(found).toEqual(expected)
    }),
    { numRuns: 60, seed: 5 },
  )
})
