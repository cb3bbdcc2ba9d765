import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Package } from '../../../src/contract/contract.ts'
import { defaultContract } from '../../../src/contract/default.ts'
import { cheapestPlan, nearTiePlan, planInWords } from '../../../src/report/usage/packages.ts'

const { packages } = defaultContract

/** Packages of these credits and cents, in that order. */
const packs = (...sizes: readonly (readonly [number, number])[]): readonly Package[] =>
  sizes.map(([credits, priceUsdCents], at) => ({
    name: `p${at}`,
    credits,
    priceUsdCents,
    listedUsdPerCredit: 0,
    validMonths: null,
  }))
const countsOf = (plan: ReturnType<typeof cheapestPlan> | null) =>
  plan?.packs.map(({ count }) => count) ?? null

describe('packages', () => {
  const price = (need: number) => cheapestPlan(packages, need).priceUsdCents

  test('the prices of the rulebook are exact to the cent', () => {
    expect(planInWords(cheapestPlan(packages, 3_000))).toBe('6 Starter (29.94 USD, 3,000 credits)')
    expect(planInWords(cheapestPlan(packages, 3_001))).toBe('1 Standard (29.99 USD, 5,000 credits)')
    expect(price(5_000)).toBe(29_99)
    expect(planInWords(cheapestPlan(packages, 8_000))).toBe(
      '6 Starter + 1 Standard (59.93 USD, 8,000 credits)',
    )
    expect(planInWords(cheapestPlan(packages, 8_001))).toBe(
      '2 Standard (59.98 USD, 10,000 credits)',
    )
    expect(planInWords(cheapestPlan(packages, 10_001))).toBe(
      '1 Premium (59.99 USD, 20,000 credits)',
    )
    expect(price(0)).toBe(0)
    expect(planInWords(cheapestPlan(packages, -1))).toBe('nothing')
    expect(price(1)).toBe(4_99)
    expect(price(3_000.5)).toBe(29_99)
  })

  const anyPackages = fc.uniqueArray(
    fc.record({ credits: fc.integer({ min: 1, max: 12 }), cents: fc.integer({ min: 1, max: 60 }) }),
    { minLength: 1, maxLength: 3, selector: (pack) => pack.credits },
  )

  test('the search is exact: it agrees with trying every combination of packages', () => {
    fc.assert(
      fc.property(anyPackages, fc.nat({ max: 90 }), (sizes, need) => {
        const list = packs(...sizes.map(({ credits, cents }) => [credits, cents] as const))
        const plan = cheapestPlan(list, need)
        let least = Number.POSITIVE_INFINITY
        const tryFrom = (at: number, credits: number, cents: number) => {
          if (credits >= need) {
            least = Math.min(least, cents)
            return
          }
          if (at === list.length || cents >= least) return
          tryFrom(at, credits + list[at]!.credits, cents + list[at]!.priceUsdCents)
          tryFrom(at + 1, credits, cents)
        }
        tryFrom(0, 0, 0)
        expect(plan.priceUsdCents).toBe(least)
        expect(plan.credits).toBeGreaterThanOrEqual(need)
      }),
      { numRuns: 300 },
    )
  })

  test('a need of millions is searched exactly, with most of it in the package of the best price', () => {
    expect(cheapestPlan(packages, 5_000_001)).toMatchObject({
      priceUsdCents: 250 * 5999 + 499,
      packs: [{ count: 1 }, { count: 0 }, { count: 250 }],
    })
  })

  test.each([
    ['four large packages, if most in small ones is dearer', packs([5, 50], [9, 91]), 36, [0, 4]],
    ['the best price, though a larger package exists', packs([10, 100], [4, 30]), 1_000, [0, 250]],
    ['at equal prices the most credits', packs([3, 10], [4, 10]), 3, [0, 1]],
    ['at equal prices the most credits, in any order', packs([4, 10], [3, 10]), 3, [1, 0]],
    ['at equal prices the fewest packages', packs([1, 10], [2, 20], [3, 30]), 6, [0, 0, 2]],
    ['at equal prices the fewest packages in bulk', packs([5, 50], [10, 100]), 1_000, [0, 100]],
    [
      'at equal prices the fewest packages in bulk, in any order',
      packs([10, 100], [5, 50]),
      1_000,
      [100, 0],
    ],
    ['of identical packages the first', packs([2, 20], [2, 20], [3, 40]), 2, [1, 0, 0]],
  ])('the plan is %s', (_, list, need, counts) => {
    expect(countsOf(cheapestPlan(list, need))).toEqual(counts)
  })
})

describe('a plan that costs nearly as much', () => {
  const plan = (credits: number, priceUsdCents: number) => ({ packs: [], credits, priceUsdCents })

  test.each([
    ['twice the credits for one cent more are a near tie', packages, plan(10_000, 5998), [0, 0, 1]],
    [
      'the order of the packages does not matter',
      [...packages].reverse(),
      plan(10_000, 5998),
      [1, 0, 0],
    ],
    ['a thousandth more is a near tie', packs([10, 1_000], [20, 1_001]), plan(10, 1_000), [0, 1]],
    [
      'the highest allowed price is a near tie',
      packs([1, 2_999], [20, 6_003]),
      plan(2, 5_998),
      [0, 1],
    ],
    [
      'one cent above the allowed price is not',
      packs([1, 2_999], [20, 6_004]),
      plan(2, 5_998),
      null,
    ],
    [
      'half as many credits again are a near tie',
      packs([10, 100], [15, 100]),
      plan(10, 100),
      [0, 1],
    ],
    ['fewer than half as many again are not', packs([10, 100], [14, 100]), plan(10, 100), null],
    [
      'packages of one cent fill the allowed price',
      packs([1, 1_000], [2, 1]),
      plan(1, 1_000),
      [0, 1_001],
    ],
    [
      'of two identical packages the first is chosen',
      packs([10, 100], [10, 100]),
      plan(5, 100),
      [1, 0],
    ],
    ['without a need there is no near tie', packages, plan(0, 0), null],
    [
      'a near tie costs at most 50,000 USD',
      packs([10, 4_995_005], [20, 5_000_000]),
      plan(10, 4_995_005),
      [0, 1],
    ],
    [
      'a higher price is no near tie',
      packs([10, 4_995_006], [20, 5_000_001]),
      plan(10, 4_995_006),
      null,
    ],
    ['the rulebook has no near tie for 8,000', packages, cheapestPlan(packages, 8_000), null],
    ['the rulebook has no near tie for 3,000', packages, cheapestPlan(packages, 3_000), null],
  ])('%s', { tags: 'whole' }, (_, list, given, counts) => {
    expect(countsOf(nearTiePlan(list, given))).toEqual(counts)
  })
})
