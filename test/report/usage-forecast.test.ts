import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { randomOf } from '../../src/report/random.ts'
import { adviseOn, bandFor } from '../../src/report/usage/advice.ts'
import { burnDown } from '../../src/report/usage/burn-down.ts'
import { forecastBurn, lookAhead, type PastDay } from '../../src/report/usage/forecast.ts'
import { cheapestPlan, nearTiePlan, planInWords } from '../../src/report/usage/packages.ts'
import type { Grant } from '../../src/report/usage/shape.ts'

const dayUs = 86_400e6
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

describe('burning down', () => {
  const anyGrants = fc.array(
    fc.record({
      name: fc.constant('g'),
      credits: fc.integer({ min: 0, max: 50 }),
      expiresUs: fc.option(
        fc.integer({ min: 0, max: 9 }).map((day) => day * dayUs + dayUs / 2),
        { nil: null },
      ),
    }),
    { minLength: 1, maxLength: 4 },
  )
  const anyDemand = fc
    .array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 8 })
    .map((burns) =>
      burns.map((credits, day) => ({ startUs: day * dayUs, endUs: (day + 1) * dayUs, credits })),
    )

  test('every credit is spent, expired or left', () => {
    fc.assert(
      fc.property(anyGrants, anyDemand, (grants, demand) => {
        const { expired, left, emptyUs } = burnDown(grants, demand, [])
        const sum = (list: readonly number[]) => list.reduce((a, b) => a + b, 0)
        const granted = sum(grants.map((grant) => grant.credits))
        const asked = sum(demand.map((day) => day.credits))
        const spent = granted - sum(expired) - sum(left)
        expect(spent).toBeLessThanOrEqual(asked + 1e-6)
        if (emptyUs === null) expect(spent).toBeCloseTo(asked, 6)
      }),
    )
  })

  test('it is what a walk in small steps gives', () => {
    fc.assert(
      fc.property(anyGrants, anyDemand, (grants, demand) => {
        const steps = 240
        const held = grants.map((grant) => ({ ...grant }))
        const expired = grants.map(() => 0)
        for (const { startUs, endUs, credits } of demand) {
          for (let step = 0; step < steps; step++) {
            const us = startUs + ((endUs - startUs) * step) / steps
            for (const [at, grant] of held.entries()) {
              if (grant.expiresUs === null || grant.expiresUs > us) continue
              expired[at]! += grant.credits
              grant.credits = 0
            }
            let due = credits / steps
            for (const grant of [...held].sort(
              (a, b) => (a.expiresUs ?? 1e30) - (b.expiresUs ?? 1e30),
            )) {
              const taken = Math.min(due, grant.credits)
              grant.credits -= taken
              due -= taken
            }
          }
        }
        const exact = burnDown(grants, demand, [])
        const total = (list: readonly number[]) => list.reduce((a, b) => a + b, 0)
        // A grant that expires in the very last instant is still held by the walk.
        expect(total(exact.expired) + total(exact.left)).toBeCloseTo(
          total(expired) + total(held.map((grant) => grant.credits)),
          4,
        )
      }),
      { numRuns: 60 },
    )
  })

  test('a band is lost on a slope at its moment, and at an expiry in a step', () => {
    const grants: Grant[] = [
      { name: 'Standard', credits: 900, expiresUs: 2.5 * dayUs },
      { name: 'Starter', credits: 200, expiresUs: null },
    ]
    const demand = Array.from({ length: 10 }, (_, day) => ({
      startUs: day * dayUs,
      endUs: (day + 1) * dayUs,
      credits: 100,
    }))
    const walk = burnDown(grants, demand, [1_001, 101, 1])
    expect(walk.belowUs[0]! / dayUs).toBeCloseTo(0.99, 9)
    // 250 of 900 are spent by 2.5 days, 650 expire, 200 are left: 101 falls after 0.99 days more.
    expect(walk.expired).toEqual([650, 0])
    expect(walk.belowUs[1]! / dayUs).toBeCloseTo(3.49, 9)
    expect(walk.emptyUs! / dayUs).toBeCloseTo(4.5, 9)
  })
})

describe('the forecast', () => {
  const monday = Date.UTC(2026, 10, 2) * 1000
  const past = (burns: readonly number[]): PastDay[] =>
    burns.map((credits, day) => ({
      startUs: monday + day * dayUs,
      weekday: (day % 7) + 1,
      credits,
    }))
  const coming = (days: number, from: number) =>
    Array.from({ length: days }, (_, day) => ({
      startUs: monday + (from + day) * dayUs,
      endUs: monday + (from + day + 1) * dayUs,
      weekday: ((from + day) % 7) + 1,
      share: 1,
    }))

  test('fewer than three full days are no forecast', () => {
    expect(forecastBurn(past([5, 6]))).toMatchObject({ known: false, fullDays: 2 })
  })

  test('the median and band are those of the last seven full days', () => {
    expect(forecastBurn(past([999, 10, 20, 30, 40, 50, 60, 70]))).toMatchObject({
      known: true,
      medianPerDay: 40,
      lowPerDay: 16,
      highPerDay: 64,
      fullDays: 7,
    })
  })

  test('an even burn gives one exact date', () => {
    const { depletion, bandLosses } = lookAhead(
      defaultContract,
      past([100, 100, 100, 100, 100, 100, 100]),
      coming(60, 7),
      [{ name: 'balance', credits: 1_500, expiresUs: null }],
      randomOf(1),
    )
    expect(depletion).toMatchObject({ known: true, balance: 1_500 })
    const at = monday + 22 * dayUs
    if (!depletion.known) throw new Error(depletion.says)
    expect(depletion.runsOut).toEqual({ earlyUs: at, medianUs: at, lateUs: at, horizonDays: 60 })
    expect(bandLosses.map((loss) => loss.lost?.medianUs ?? null)).toEqual([
      monday + (7 + 14.99) * dayUs,
      monday + (7 + 13.99) * dayUs,
      monday + (7 + 4.99) * dayUs,
      null,
    ])
    expect(bandLosses[3]!.lost).toBeNull()
  })

  test('quiet weekends stay quiet: the weekday decides where four weeks were seen', () => {
    const week = [100, 100, 100, 100, 100, 0, 0]
    const { depletion } = lookAhead(
      defaultContract,
      past([...week, ...week, ...week, ...week]),
      coming(60, 28),
      [{ name: 'balance', credits: 1_000, expiresUs: null }],
      randomOf(7),
    )
    if (!depletion.known) throw new Error(depletion.says)
    // Two working weeks: to the Friday of the second, 12 days on.
    expect(depletion.runsOut.medianUs).toBe(monday + (28 + 12) * dayUs)
  })

  test('the band holds the median, more credits last longer, and a seed repeats', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 3, maxLength: 30 }),
        fc.integer({ min: 1, max: 3_000 }),
        fc.nat(),
        (burns, credits, seed) => {
          const look = (held: number) =>
            lookAhead(
              defaultContract,
              past(burns),
              coming(90, burns.length),
              [{ name: 'balance', credits: held, expiresUs: null }],
              randomOf(seed),
            ).depletion
          const [less, again, more] = [look(credits), look(credits), look(credits * 2)]
          expect(less).toEqual(again)
          if (!less.known || !more.known) throw new Error('no forecast')
          const order = [less.runsOut.earlyUs, less.runsOut.medianUs, less.runsOut.lateUs].map(
            (us) => us ?? Number.POSITIVE_INFINITY,
          )
          expect([...order].sort((a, b) => a - b)).toEqual(order)
          expect(more.runsOut.medianUs ?? Number.POSITIVE_INFINITY).toBeGreaterThanOrEqual(
            order[1]!,
          )
        },
      ),
      { numRuns: 8 },
    )
  })

  test('credits that expire unused are told with their date and their band', () => {
    const expiresUs = monday + 17 * dayUs
    const { depletion } = lookAhead(
      defaultContract,
      past([100, 100, 100, 100, 100, 100, 100]),
      coming(60, 7),
      [
        { name: 'Standard', credits: 5_000, expiresUs },
        { name: 'free', credits: 100, expiresUs: null },
      ],
      randomOf(1),
    )
    if (!depletion.known) throw new Error(depletion.says)
    expect(depletion.wasted).toEqual([
      { grant: 'Standard', expiresUs, creditsLow: 4_000, creditsMedian: 4_000, creditsHigh: 4_000 },
    ])
    expect(depletion.runsOut.medianUs).toBe(monday + 18 * dayUs)
  })

  test('an unknown balance is said to be unknown', () => {
    const { depletion } = lookAhead(
      defaultContract,
      past([1, 2, 3]),
      coming(9, 3),
      null,
      randomOf(1),
    )
    expect(depletion).toMatchObject({ known: false })
  })
})
