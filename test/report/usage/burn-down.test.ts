import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Grant } from '../../../src/contract/grant.ts'
import { burnDown } from '../../../src/report/usage/burn-down.ts'

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

  test('the result matches a simulation in small steps', () => {
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
        // The simulation still holds a grant that expires at the very last instant.
        expect(total(exact.expired) + total(exact.left)).toBeCloseTo(
          total(expired) + total(held.map((grant) => grant.credits)),
          4,
        )
      }),
      { numRuns: 60 },
    )
  })

  test('a band is lost when the balance falls below it, or at an expiry', () => {
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
    expect(walk.belowUs[2]! / dayUs).toBeCloseTo(4.49, 9)
    expect(walk.emptyUs! / dayUs).toBeCloseTo(4.5, 9)
    expect(walk.left).toEqual([0, 0])
  })

  /** Days with these burns, from day 10 on. */
  const daysOf = (...burns: readonly number[]) =>
    burns.map((credits, day) => ({
      startUs: (10 + day) * dayUs,
      endUs: (11 + day) * dayUs,
      credits,
    }))
  const held = (credits: number, expiresDay: number | null): Grant => ({
    name: 'held',
    credits,
    expiresUs: expiresDay === null ? null : expiresDay * dayUs,
  })

  test.each([
    [
      'the grant that expires first is spent first',
      [held(100, null), held(100, 12)],
      daysOf(60),
      null,
      [0, 0],
      [100, 40],
    ],
    [
      'a grant that expires at the end of the demand expires',
      [held(101, 11)],
      daysOf(100),
      null,
      [1],
      [0],
    ],
    [
      'with the last grant the balance becomes zero',
      [held(500, 11.5)],
      daysOf(100, 100, 100),
      11.5,
      [350],
      [0],
    ],
    [
      'a grant that has expired before is not spent',
      [held(0, 9), held(50, 9.5)],
      daysOf(100),
      9.5,
      [0, 50],
      [0, 0],
    ],
    ['no balance is empty from the first demand on', [held(0, 9)], daysOf(100), 10, [0], [0]],
    ['a day without demand spends nothing', [held(0, null)], daysOf(0, 0), null, [0], [0]],
    [
      'an empty balance is empty from the end of a day without demand',
      [held(0, null)],
      daysOf(0, 100),
      11,
      [0],
      [0],
    ],
    ['a balance that just lasts is not empty', [held(200, null)], daysOf(100, 100), null, [0], [0]],
    [
      'a balance is empty when its last credit is spent',
      [held(200, null)],
      daysOf(100, 100, 0, 100),
      12,
      [0],
      [0],
    ],
  ] as const)('%s', (_, grants, demand, emptyDay, expired, left) => {
    expect(burnDown(grants, demand, [])).toEqual({
      emptyUs: emptyDay === null ? null : emptyDay * dayUs,
      belowUs: [],
      expired,
      left,
    })
  })

  test('a balance at a threshold is not below it, and a balance that starts below is below at once', () => {
    const { belowUs } = burnDown([held(200, null)], daysOf(50, 50), [300, 201, 150, 100, 99])
    expect(belowUs).toEqual([10 * dayUs, 10 * dayUs, 11 * dayUs, null, null])
  })

  test('an expiry loses every threshold that it crosses at its time', () => {
    const grants = [held(100, 10.5), held(100, null)]
    expect(burnDown(grants, daysOf(40), [101, 99]).belowUs).toEqual([10.5 * dayUs, 10.525 * dayUs])
  })

  test('a grant that begins later counts from its start, and none before the credits were first missing', () => {
    const later: Grant = { name: 'later', credits: 150, fromUs: 12 * dayUs, expiresUs: null }
    expect(burnDown([held(200, null), later], daysOf(100, 100, 100, 100), [])).toMatchObject({
      emptyUs: 13.5 * dayUs,
      left: [0, 0],
    })
    expect(burnDown([held(100, null), later], daysOf(100, 100, 100), [50])).toMatchObject({
      ...{ emptyUs: 11 * dayUs, belowUs: [10.5 * dayUs], left: [0, 150] },
    })
  })

  test('credits run out when one model is used that no grant pays for', () => {
    const mix = [
      { model: 'a', share: 0.25 },
      { model: null, share: 0.75 },
    ]
    const onlyA: Grant = { name: 'a', credits: 500, expiresUs: null, models: ['a'] }
    // Of 150 for all, 75 a day are taken: a is paid by its own grant, though that is later in order.
    const whole = burnDown([held(150, null), { ...onlyA, rank: 1 }], daysOf(100, 100, 100), [], mix)
    expect(whole.emptyUs! / dayUs).toBeCloseTo(12, 9)
    // In the middle of a day: of 135, 75 are taken on the first and 60 of 75 on the second.
    const { emptyUs } = burnDown([onlyA, held(135, null)], daysOf(100, 100), [], mix)
    expect(emptyUs! / dayUs).toBeCloseTo(11.8, 9)
  })

  test('what a grant paid since the last change may be paid by another', () => {
    const all: Grant = {
      name: 'all',
      credits: 0,
      expiresUs: null,
      paid: [{ model: 'a', credits: 30 }],
    }
    const onlyA: Grant = { name: 'a', credits: 100, expiresUs: null, models: ['a'], rank: 1 }
    const mix = [{ model: 'b', share: 1 }]
    const walk = burnDown([all, onlyA], daysOf(10, 10, 10, 10), [], mix)
    expect(walk.emptyUs! / dayUs).toBeCloseTo(13, 9)
    expect(walk.left).toEqual([0, 70])
  })
})
