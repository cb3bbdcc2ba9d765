import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Contract } from '../../src/contract/contract.ts'
import { defaultContract } from '../../src/contract/default.ts'
import type { Grant } from '../../src/contract/grant.ts'
import { type Random, randomOf } from '../../src/report/random.ts'
import { burnDown } from '../../src/report/usage/burn-down.ts'
import type { PastDay } from '../../src/report/usage/burn-model.ts'
import {
  type ComingDay,
  expectedBurn,
  forecastBurn,
  lookAhead as lookAheadOf,
} from '../../src/report/usage/forecast.ts'
import { accountKinds, simulateAccount } from './simulated-accounts.ts'

const dayUs = 86_400e6

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
      share: 1,
    }))
  const lookAhead = (
    contract: Contract,
    days: readonly PastDay[],
    future: readonly ComingDay[],
    grants: readonly Grant[] | null,
    random: Random,
  ) => lookAheadOf(contract, days, forecastBurn(days, random), future, grants, random)
  const coming = (days: number, from: number) =>
    Array.from({ length: days }, (_, day) => ({
      startUs: monday + (from + day) * dayUs,
      endUs: monday + (from + day + 1) * dayUs,
      weekday: ((from + day) % 7) + 1,
      share: 1,
    }))

  test('fewer than three full days are no forecast', () => {
    expect(forecastBurn(past([5, 6]), randomOf(1))).toMatchObject({ known: false, fullDays: 2 })
  })

  test('an even burn is its own median and band, whatever parts of days it began and ended with', () => {
    const parts = [
      { startUs: monday - dayUs, weekday: 7, credits: 40, share: 1 / 24 },
      ...past([960, 960, 960, 960, 960, 960]),
      { startUs: monday + 6 * dayUs, weekday: 7, credits: 480, share: 1 / 2 },
    ]
    const burn = forecastBurn(parts, randomOf(1))
    if (!burn.known) throw new Error(burn.says)
    for (const each of [burn.lowPerDay, burn.medianPerDay, burn.highPerDay]) {
      expect(each).toBeCloseTo(960, 6)
    }
    expect(burn.fullDays).toBe(6)
    expect(expectedBurn(parts, coming(30, 7))).toBeCloseTo(30 * 960, 6)
  })

  test('a steady growth goes on for as long as it was seen, and then stays', () => {
    const growing = past(Array.from({ length: 28 }, (_, day) => 100 + day))
    expect(expectedBurn(growing, coming(1, 28))).toBeCloseTo(128, 6)
    expect(expectedBurn(growing, coming(1, 28 + 27))).toBeCloseTo(155, 6)
    expect(expectedBurn(growing, coming(1, 28 + 200))).toBeCloseTo(155, 6)
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
      monday + Math.round((7 + 13.99) * dayUs),
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
      { numRuns: 40, examples: [[[2, 232, 4], 7, 1961630971]] },
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

  test('of simulated accounts of all kinds the intervals hold about four fifths', () => {
    // So few are within ten points of it; bench/forecast.ts asks 2,000 of each.
    const held = accountKinds.flatMap((kind) =>
      [7, 30, 90].flatMap((history) =>
        Array.from({ length: 8 }, (_, seed) =>
          simulateAccount(kind, history, seed * 100 + history),
        ),
      ),
    )
    const runOuts = held.filter(({ runOut }) => runOut).length / held.length
    const days = held.reduce((sum, each) => sum + each.days, 0) / (7 * held.length)
    for (const share of [runOuts, days]) {
      expect(share).toBeGreaterThan(0.7)
      expect(share).toBeLessThan(0.9)
    }
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
