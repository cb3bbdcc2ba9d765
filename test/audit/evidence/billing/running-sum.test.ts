import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RunningSum } from '../../../../src/audit/evidence/billing/running-sum.ts'

const entry = fc.record({ timeUs: fc.integer({ min: -9, max: 9 }), amount: fc.nat(5) })

test('a running sum adds up what lies at or before a moment, and what lies before it', () => {
  fc.assert(
    fc.property(fc.array(entry), fc.func(fc.boolean()), (entries, keep) => {
      const rows = entries.map((_, row) => row).filter(keep)
      const sum = new RunningSum(
        Int32Array.from(rows),
        (row) => entries[row]!.timeUs,
        (row) => entries[row]!.amount,
      )
      for (let atUs = -10; atUs <= 10; atUs++) {
        const of = (isIn: (timeUs: number) => boolean) =>
          rows
            .map((row) => entries[row]!)
            .filter(({ timeUs }) => isIn(timeUs))
            .reduce((total, { amount }) => total + amount, 0)
        expect(sum.upTo(atUs)).toBe(of((timeUs) => timeUs <= atUs))
        expect(sum.before(atUs)).toBe(of((timeUs) => timeUs < atUs))
      }
    }),
  )
})

test('without an amount it counts', () => {
  const sum = new RunningSum(Int32Array.from([4, 2, 0]), (row) => row)
  expect([-1, 0, 1, 2, 3, 4].map((us) => sum.upTo(us))).toEqual([0, 1, 1, 2, 2, 3])
  expect([0, 1, 2, 3, 4, 5].map((us) => sum.before(us))).toEqual([0, 1, 1, 2, 2, 3])
})
