import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { BillLine, LogLine } from '../../../src/audit/reconcile/lines.ts'
import { pricingOf } from '../../../src/audit/reconcile/pricing.ts'
import { reconcile } from '../../../src/audit/reconcile/reconcile.ts'
import { decimalText, powerOfTen, rational } from '../../../src/money/rational.ts'
import { eachKind } from '../../../src/tokens/kinds.ts'
import { contract, dayText, expectCauses, sidesOf, world } from './world.ts'

test('each cause of a difference has its exact amount in 200 random worlds', {
  tags: 'whole',
}, () => {
  fc.assert(
    fc.property(world, (each) => {
      const sides = sidesOf(each)
      const pricing = pricingOf(contract, powerOfTen(each.isRounded ? -6 : -7))
      expectCauses(reconcile(sides.bill, sides.log, pricing), sides)
    }),
    { numRuns: 200, seed: 58 },
  )
})

test('use of a day that a bill without ids books on the next is late, and nothing else', () => {
  const counts = { ...eachKind(() => null), input: 1000, cached: 0, output: 100 }
  const log = [9, 10].map((day): LogLine => {
    return {
      id: `r-${day}`,
      day: dayText(day),
      model: 'large',
      account: null,
      counts,
      logged: null,
      expected: rational(1n),
    }
  })
  const bill = [
    { day: 9, amount: rational(1n, 4n) },
    { day: 10, amount: rational(7n, 4n) },
  ].map(({ day, amount }): BillLine => {
    return {
      id: null,
      day: dayText(day),
      model: 'large',
      account: null,
      type: 'usage',
      amount,
      requests: null,
      counts: null,
    }
  })
  const { cells, joinedBy } = reconcile(bill, log, pricingOf(contract, powerOfTen(-6)))
  expect(joinedBy).toBe('day and model')
  expect(
    cells.map(({ causes }) =>
      Object.entries(causes).map(([cause, amount]) => [cause, decimalText(amount)]),
    ),
  ).toEqual([[['late', '-0.75']], [['late', '0.75']]])
})
