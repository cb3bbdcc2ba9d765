import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cycleOf } from '../../src/schedule/cycle.ts'

test('a cycle has the shares of its weights, in the shortest order, spread evenly', () => {
  expect(cycleOf([3, 1], 60)).toEqual([0, 0, 1, 0])
  expect(cycleOf([0.5, 0.25, 0.25], 60)).toEqual([0, 1, 2, 0])
  expect(cycleOf([7], 60)).toEqual([0])
  expect(cycleOf([0, 2], 60)).toEqual([1])
  expect(cycleOf([0, 0], 60)).toEqual([0, 1])
})

test('a share that no short order has comes as near as the longest allows, and nobody is left out', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 9999 }), { minLength: 1, maxLength: 8 }),
      (weights) => {
        const cycle = cycleOf(weights, 60)
        const sum = weights.reduce((total, weight) => total + weight)
        for (const [at, weight] of weights.entries()) {
          const count = cycle.filter((index) => index === at).length
          expect(count).toBeGreaterThanOrEqual(1)
          // Whoever is raised to one place takes it from nobody: the order grows instead.
          expect(Math.abs(count - (weight / sum) * cycle.length)).toBeLessThan(1 + weights.length)
        }
        expect(cycle.length).toBeLessThanOrEqual(60 + weights.length)
      },
    ),
  )
})
