import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { defaultContract } from '../../../src/contract/default.ts'
import { adviseOn, bandFor, type MonthNeed } from '../../../src/report/usage/advice.ts'
import { planInWords } from '../../../src/report/usage/packages.ts'

const noPeak = { minute: 1, hour: 1, day: 1 }

describe('advice', () => {
  test('a Premium is advised over two Standards for one cent more, with the reason', () => {
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
  })

  const advised = (need: Partial<MonthNeed>) => {
    const advice = adviseOn(defaultContract, {
      burnCredits: 0,
      lastingCredits: 0,
      peak: noPeak,
      ...need,
    })
    if (!advice.known) throw new Error(advice.summary)
    const { cheapest, chosen, vetoed, reasons, ...figures } = advice
    return {
      ...figures,
      plans: [cheapest, chosen, vetoed].map((plan) => plan && planInWords(plan)),
      reasons,
    }
  }

  test('nothing is advised if credits in hand cover the month', () => {
    expect(advised({ burnCredits: 3_000.4, lastingCredits: 3_500 })).toEqual({
      known: true,
      needCredits: 0,
      floorBalance: 0,
      wastedCredits: 0,
      plans: ['nothing', 'nothing', null],
      reasons: ['The 3,500 credits in hand cover the 3,000 that the month is expected to use.'],
    })
  })

  test('missing credits are bought, and the reasons name the part that expires unused', () => {
    expect(advised({ burnCredits: 4_000, lastingCredits: 900 })).toEqual({
      known: true,
      needCredits: 3_100,
      floorBalance: 0,
      wastedCredits: 1_000,
      plans: [
        '1 Standard (29.99 USD, 5,000 credits)',
        '1 Standard (29.99 USD, 5,000 credits)',
        null,
      ],
      reasons: [
        '1 Standard (29.99 USD, 5,000 credits) is the cheapest that covers 3,100 credits.',
        '1,000 of its credits would expire unused after a month.',
      ],
    })
  })

  test('even one credit that expires unused is in the reasons', () => {
    expect(advised({ burnCredits: 4_999 }).reasons[1]).toBe(
      '1 of its credits would expire unused after a month.',
    )
    expect(advised({ burnCredits: 5_000 }).reasons).toHaveLength(1)
  })

  test('a near tie is advised with its price and credits', () => {
    expect(advised({ burnCredits: 20_000, lastingCredits: 11_000 })).toMatchObject({
      needCredits: 9_000,
      wastedCredits: 0,
      plans: [
        '2 Standard (59.98 USD, 10,000 credits)',
        '1 Premium (59.99 USD, 20,000 credits)',
        null,
      ],
      reasons: [
        '2 Standard (59.98 USD, 10,000 credits) is the cheapest that covers 9,000 credits.',
        '1 Premium (59.99 USD, 20,000 credits) costs 0.01 USD more than 2 Standard (59.98 USD, 10,000 credits) and contains 10,000 more credits.',
      ],
    })
  })

  test('the band that the peak needs is kept to the end of the month', () => {
    expect(
      advised({
        burnCredits: 700,
        lastingCredits: 250,
        peak: { minute: 60, hour: 601, day: null },
      }),
    ).toEqual({
      known: true,
      needCredits: 450,
      floorBalance: 101,
      wastedCredits: 0,
      plans: [
        '1 Starter (4.99 USD, 500 credits)',
        '2 Starter (9.98 USD, 1,000 credits)',
        '1 Starter (4.99 USD, 500 credits)',
      ],
      reasons: [
        '1 Starter (4.99 USD, 500 credits) covers the month, but would leave 50 credits at its end, below the 101 of the band 101-1000, which the observed peak of 60 requests a minute, 601 requests an hour needs.',
      ],
    })
    // 101 are left: the band is kept.
    expect(
      advised({ burnCredits: 149, lastingCredits: 250, peak: { minute: 60, hour: 1, day: 1 } }),
    ).toMatchObject({ needCredits: 0, plans: ['nothing', 'nothing', null] })
    expect(
      advised({ burnCredits: 150, lastingCredits: 250, peak: { minute: 60, hour: 1, day: 1 } }),
    ).toMatchObject({ plans: ['nothing', '1 Starter (4.99 USD, 500 credits)', 'nothing'] })
  })

  test('a peak above every band is in the reasons', () => {
    const { floorBalance, reasons } = advised({
      lastingCredits: 50_000,
      peak: { minute: 501, hour: null, day: null },
    })
    expect(floorBalance).toBe(10_000)
    expect(reasons).toEqual([
      'The 50,000 credits in hand cover the 0 that the month is expected to use.',
      'No band allows the observed peak of 501 requests a minute: even 10000+ will return 429.',
    ])
  })

  test('a contract without packages gives no advice', () => {
    const contract = { ...defaultContract, packages: [] }
    expect(adviseOn(contract, { burnCredits: 1, lastingCredits: 0, peak: noPeak })).toEqual({
      known: false,
      summary: 'The contract "svc" lists no packages.',
    })
  })
})

describe('the veto of the band', () => {
  test('the band is the lowest with limits for the peak in all three windows', () => {
    expect(bandFor(defaultContract, { minute: 20, hour: 600, day: 5_000 })?.name).toBe('1-100')
    expect(bandFor(defaultContract, { minute: 21, hour: 1, day: 1 })?.name).toBe('101-1000')
    expect(bandFor(defaultContract, { minute: 1, hour: 6_001, day: 1 })?.name).toBe('10000+')
    expect(bandFor(defaultContract, { minute: null, hour: null, day: null })?.name).toBe('1-100')
    const bands = [...defaultContract.bands].reverse()
    expect(bandFor({ ...defaultContract, bands }, noPeak)?.name).toBe('1-100')
  })

  test('six Starters cover 3,000 credits, but are vetoed because a peak of 150 a minute needs 1,001 at the end', () => {
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
      /leave 0 credits at its end, below the 1,001 of the band 1001-10000, .*150 requests a minute/,
    )
  })

  test('the chosen plan never ends below the floor, and never costs less than the cheapest', () => {
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
          if (!advice.known) throw new Error(advice.summary)
          const end = lastingCredits + advice.chosen.credits - burnCredits
          expect(end).toBeGreaterThanOrEqual(advice.floorBalance)
          expect(advice.chosen.priceUsdCents).toBeGreaterThanOrEqual(advice.cheapest.priceUsdCents)
        },
      ),
    )
  })
})
