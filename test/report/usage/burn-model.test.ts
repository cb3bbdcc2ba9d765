import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fitBurn, type PastDay } from '../../../src/report/usage/burn-model.ts'
import { randomOf } from '../../../src/user/random.ts'
import { noisyWeeks, pastDays, unevenDays } from '../usage-days.ts'

describe('the expected burn of a day', () => {
  test('days before the last six weeks do not count, and the first day of the six weeks does', () => {
    const weeks = Array.from({ length: 42 }, () => 100)
    expect(fitBurn(pastDays([1e6, ...weeks])).expected(1, 1)).toBeCloseTo(100, 6)
    expect(fitBurn(pastDays([150, ...weeks.slice(1)])).expected(1, 1)).toBeLessThan(99)
  })

  test.each([
    { last: 0.5, credits: 80, tomorrow: 170 },
    // Without a trend, the level of working days applies.
    { last: 0.4, credits: 64, tomorrow: 120 },
  ])('a trend needs six and a half days: $last of the last one', ({ last, credits, tomorrow }) => {
    const days = pastDays([100, 110, 120, 130, 140, 150, credits], { 6: last })
    expect(fitBurn(days).expected(1, 1)).toBeCloseTo(tomorrow, 6)
  })

  test('a trend continues for as many days as were seen, and never goes below zero', () => {
    const { expected } = fitBurn(pastDays([800, 700, 600, 500, 400, 300, 200]))
    expect([1, 2, 3, 7].map((ahead) => expected(ahead, 1))).toEqual([
      expect.closeTo(100, 6),
      expect.closeTo(0, 6),
      0,
      0,
    ])
    const rising = fitBurn(pastDays([1, 2, 3, 4, 5, 6, 7])).expected
    expect([6, 7, 8].map((ahead) => rising(ahead, 1))).toEqual(
      [13, 14, 14].map((each) => expect.closeTo(each, 6)),
    )
  })

  const weekendLevels = (days: number, gap: number) =>
    fitBurn(pastDays(noisyWeeks(days, (weekday) => 100 - (weekday > 5 ? gap : 0))))
  const tuesdayLevels = (days: number, gap: number) =>
    fitBurn(pastDays(noisyWeeks(days, (weekday) => 100 - (weekday === 2 ? gap : 0))))

  test.each([
    { what: 'a weekend', days: 6, gap: 9.0965, of: weekendLevels },
    { what: 'a weekend', days: 7, gap: 13.0106, of: weekendLevels },
    { what: 'a weekend', days: 10, gap: 2.6372, of: weekendLevels },
    { what: 'a Tuesday', days: 14, gap: 27.359, of: tuesdayLevels },
    { what: 'a Tuesday', days: 21, gap: 7.6819, of: tuesdayLevels },
    { what: 'a Tuesday', days: 28, gap: 5.3872, of: tuesdayLevels },
  ])('$what has its own level from a gap of $gap in $days days', ({ what, days, gap, of }) => {
    const isApart = (each: number) => {
      const { expected } = of(days, each)
      const weekday = what === 'a weekend' ? 6 : 2
      return Math.abs(expected(1, weekday) - expected(1, 3)) > 1e-6
    }
    expect([gap - 0.02, gap + 0.02].map(isApart)).toEqual([false, true])
  })

  test('three days are too few for a weekend level', () => {
    const days = [100, 50, 60].map((credits, day) => ({
      startUs: day * 86_400e6,
      weekday: 5 + day,
      credits,
      share: 1,
    }))
    expect(fitBurn(days).expected(1, 6)).toBeCloseTo(70, 9)
  })

  test('two days, one of them a weekend, share one level', () => {
    const days: readonly PastDay[] = [
      { startUs: 0, weekday: 5, credits: 90, share: 1 },
      { startUs: 86_400e6, weekday: 6, credits: 110, share: 1 },
    ]
    expect([1, 6].map((weekday) => fitBurn(days).expected(1, weekday))).toEqual(
      [100, 100].map((each) => expect.closeTo(each, 9)),
    )
  })
})

describe('the simulated burn of a day', () => {
  const asked = [
    [1, 6, 1],
    [2, 7, 1],
    [3, 1, 1],
    [5, 3, 0.25],
    [40, 6, 0.5],
  ] as const

  test.each([
    [1, [12.303847, 13.016846, 117.059141, 27.010029, 6.470493]],
    [2, [4.283515, 4.742106, 99.042294, 26.452136, 4.679283]],
  ])('seed %i always draws the same days', (seed, drawn) => {
    const draw = fitBurn(unevenDays).draw(randomOf(seed))
    expect(asked.map(([ahead, weekday, share]) => draw(ahead, weekday, share))).toEqual(
      drawn.map((each) => expect.closeTo(each, 5)),
    )
  })

  test('a day with almost no burn has the noise of a tenth of the mean', () => {
    const days = pastDays([95, 104, 101, 97, 103, 3, 1, 99, 100, 102])
    const draw = fitBurn(days).draw(randomOf(3))
    expect([6, 7, 1].map((weekday) => draw(2, weekday, 1))).toEqual(
      [2.250974, 0.827914, 103.064356].map((each) => expect.closeTo(each, 5)),
    )
  })

  test('draws without any burn are zero', () => {
    expect(fitBurn(pastDays([0, 0, 0])).draw(randomOf(1))(1, 4, 1)).toBe(0)
  })

  test('draws of an even burn are all equal', () => {
    const { draw } = fitBurn(pastDays([100, 100, 100, 100, 50], { 4: 0.5 }))
    expect(draw(randomOf(1))(3, 2, 0.25)).toBeCloseTo(25, 6)
  })

  test('days that gave back more than was used have a burn that is a number', () => {
    const amount = fc.integer({ min: -100_000, max: 20_000 }).map((each) => each / 1000)
    fc.assert(
      fc.property(
        fc.array(fc.oneof(amount, fc.constantFrom(0, 5, -5, 1e-18)), {
          minLength: 3,
          maxLength: 30,
        }),
        fc.nat(),
        (burns, seed) => {
          const { expected, draw } = fitBurn(pastDays(burns))
          const drawn = draw(randomOf(seed))
          for (const [ahead, weekday, share] of asked) {
            expect([expected(ahead, weekday), drawn(ahead, weekday, share)]).toEqual([
              ...[expect.toSatisfy(Number.isFinite), expect.toSatisfy(Number.isFinite)],
            ])
          }
        },
      ),
    )
  })
})
