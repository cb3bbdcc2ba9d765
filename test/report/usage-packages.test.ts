import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { adviseOn, bandFor } from '../../src/report/usage/advice.ts'
import { cheapestPlan, nearTiePlan, planInWords } from '../../src/report/usage/packages.ts'

const { packages } = defaultContract
const noPeak = { minute: 1, hour: 1, day: 1 }

describe('packages', () => {
  const price = (need: number) => cheapestPlan(packages, need).priceUsdCents

  test('the prices of the rulebook come out to the cent', () => {
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
  })

  test('two Standards are one cent under a Premium, which is advised, with the reason', () => {
    const advice = adviseOn(defaultContract, {
      burnCredits: 9_000,
      lastingCredits: 0,
      peak: noPeak,
    })
    expect(advice).toMatchObject({
      known: true,
      cheapest: { priceUsdCents: 5998 },
      chosen: { priceUsdCents: 5999, credits: 20_000 },
      vetoed: null,
    })
    expect(advice.known && advice.reasons.join(' ')).toContain('costs 0.01 USD more')
    expect(nearTiePlan(packages, cheapestPlan(packages, 8_000))).toBeNull()
    expect(nearTiePlan(packages, cheapestPlan(packages, 3_000))).toBeNull()
  })

  const anyPackages = fc.uniqueArray(
    fc.record({ credits: fc.integer({ min: 1, max: 12 }), cents: fc.integer({ min: 1, max: 60 }) }),
    { minLength: 1, maxLength: 3, selector: (pack) => pack.credits },
  )

  test('the search is exact: it agrees with trying every mix of packs', () => {
    fc.assert(
      fc.property(anyPackages, fc.nat({ max: 90 }), (sizes, need) => {
        const list = sizes.map(({ credits, cents }, at) => ({
          name: `p${at}`,
          credits,
          priceUsdCents: cents,
          listedUsdPerCredit: 0,
          validMonths: null,
        }))
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

  test('a need of millions is searched as exactly, its bulk in the pack of the best price', () => {
    expect(cheapestPlan(packages, 5_000_001)).toMatchObject({
      priceUsdCents: 250 * 5999 + 499,
      packs: [{ count: 1 }, { count: 0 }, { count: 250 }],
    })
  })
})

describe('the veto of the band', () => {
  test('the band is the lowest that carries the peak in all three windows', () => {
    expect(bandFor(defaultContract, { minute: 20, hour: 600, day: 5_000 }).name).toBe('1-100')
    expect(bandFor(defaultContract, { minute: 21, hour: 1, day: 1 }).name).toBe('101-1000')
    expect(bandFor(defaultContract, { minute: 1, hour: 6_001, day: 1 }).name).toBe('10000+')
  })

  test('six Starters pay for 3,000, but a peak of 150 a minute needs 1,001 at the end', () => {
    const advice = adviseOn(defaultContract, {
      burnCredits: 3_000,
      lastingCredits: 0,
      peak: { minute: 150, hour: 300, day: 300 },
    })
    expect(advice).toMatchObject({
      known: true,
      floorBalance: 1_001,
      vetoed: { priceUsdCents: 2994 },
      chosen: { priceUsdCents: 2999, credits: 5_000 },
    })
    expect(advice.known && advice.reasons[0]).toMatch(
      /leave 0 credits, below the 1,001 that the band 1001-10000 asks for.*150 requests a minute/,
    )
  })

  test('what is chosen never ends below the floor, and never costs less than the cheapest', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 60_000 }),
        fc.nat({ max: 30_000 }),
        fc.nat({ max: 600 }),
        (burnCredits, lastingCredits, minute) => {
          const advice = adviseOn(defaultContract, {
            burnCredits,
            lastingCredits,
            peak: { minute, hour: 0, day: 0 },
          })
          if (!advice.known) throw new Error(advice.says)
          const end = lastingCredits + advice.chosen.credits - burnCredits
          expect(end).toBeGreaterThanOrEqual(advice.floorBalance)
          expect(advice.chosen.priceUsdCents).toBeGreaterThanOrEqual(advice.cheapest.priceUsdCents)
        },
      ),
    )
  })
})
