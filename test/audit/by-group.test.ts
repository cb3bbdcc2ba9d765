import fc from 'fast-check'
import { expect, test } from 'vitest'
import { eachGroup } from '../../src/audit/evidence/by-group.ts'

test('groups are the same wherever their rows are cut into batches', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 8 }),
      fc.array(fc.nat(20), { maxLength: 6 }),
      async (sizes, cuts) => {
        const groups = Float64Array.from(sizes.flatMap((size, nth) => Array(size).fill(nth)))
        const values = groups.map((_, row) => row)
        const edges = [0, ...cuts.filter((cut) => cut < groups.length), groups.length].sort(
          (a, b) => a - b,
        )
        const seen: [number, number[]][] = []
        await eachGroup(
          async (take) => {
            for (const [at, from] of edges.slice(0, -1).entries()) {
              const until = edges[at + 1]!
              await take([groups.subarray(from, until), values.subarray(from, until)])
            }
          },
          (group, [column]) => void seen.push([group, [...column!]]),
        )
        const rows = [...values]
        expect(seen).toEqual(
          sizes.map((_, nth) => [nth, rows.filter((row) => groups[row] === nth)]),
        )
      },
    ),
  )
})
