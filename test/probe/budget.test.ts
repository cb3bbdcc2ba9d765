import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BudgetError, ProbeBudget } from '../../src/probe/budget.ts'

test('a budget is never exceeded, whatever is in flight or given back', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 50 }),
      fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.boolean())),
      (maxCredits, requests) => {
        const budget = new ProbeBudget(maxCredits)
        let kept = 0
        for (const [credits, failed] of requests) {
          try {
            budget.reserve(credits)
          } catch (error) {
            expect(error).toBeInstanceOf(BudgetError)
            continue
          }
          if (failed) budget.giveBack(credits)
          else kept += credits
          expect(kept).toBeLessThanOrEqual(maxCredits)
          expect(budget.spent).toBe(kept)
        }
      },
    ),
  )
})

test('a promised maximum lowers what is left, and never raises it', () => {
  const budget = new ProbeBudget(10)
  budget.reserve(2)
  budget.promise(50)
  expect(budget.left).toBe(8)
  budget.promise(5)
  expect(budget.left).toBe(3)
  expect(() => budget.reserve(4)).toThrow('would cost 4 credits, and 3 are left')
})

test('the credits of the account are known once its balance was read', () => {
  const budget = new ProbeBudget(500)
  expect(budget.held).toBe(Number.POSITIVE_INFINITY)
  budget.reserve(1)
  budget.observe(100)
  budget.reserve(3)
  budget.reserve(2)
  budget.giveBack(2)
  expect([budget.held, budget.left]).toEqual([97, 496])
  budget.forgetBalance()
  expect(budget.held).toBe(Number.POSITIVE_INFINITY)
})

test('a balance that fell by more than was counted counts as spent', () => {
  const budget = new ProbeBudget(10)
  budget.observe(100)
  budget.reserve(2)
  budget.observe(94)
  expect(budget.spent).toBe(6)
  expect(() => budget.reserve(5)).toThrow('would cost 5 credits, and 4 are left')
})
