import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fitBurn } from '../../../src/report/usage/burn-model.ts'
import { forecastBurn } from '../../../src/report/usage/forecast.ts'
import { randomOf } from '../../../src/user/random.ts'
import { pastDays } from '../usage-days.ts'

/** About 100 a day, the same in each run. */
const days = (count: number, change: Readonly<Record<number, number>> = {}) =>
  pastDays(Array.from({ length: count }, (_, at) => change[at] ?? 90 + ((at * 7919) % 21)))
const perDay = (past: ReturnType<typeof days>) => {
  const forecast = forecastBurn(past, randomOf(1))
  if (!forecast.known) throw new Error(forecast.summary)
  return forecast
}

test('one day far above all others changes no day to come, wherever it is', {
  tags: 'whole',
}, () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 10, max: 42 }),
      fc.nat(),
      fc.integer({ min: 400, max: 1_000_000 }),
      (count, place, credits) => {
        const at = place % count
        const past = days(count, { [at]: credits })
        const others = fitBurn(past.filter((_, each) => each !== at))
        // Days are counted from the last measured one, which may be the far one.
        const tomorrow = at === count - 1 ? 2 : 1
        expect(fitBurn(past).expected(1, 1)).toBeCloseTo(others.expected(tomorrow, 1), 9)
        expect(perDay(past).medianPerDay).toBeLessThan(150)
      },
    ),
    { numRuns: 200 },
  )
})

test('a spike that midnight splits over two days is carried on no more than one within a day', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 12, max: 42 }),
      fc.nat(),
      fc.integer({ min: 300, max: 700 }),
      (count, place, share) => {
        // Two days of usual use follow: a change would go on.
        const at = place % (count - 4)
        const one = fitBurn(days(count, { [at]: 10_000 })).expected(1, 1)
        const parts = { [at]: 10 * share, [at + 1]: 10_000 - 10 * share }
        const two = fitBurn(days(count, parts)).expected(1, 1)
        expect(Math.abs(two - one)).toBeLessThan(15)
      },
    ),
    { numRuns: 100 },
  )
})

test('far days that come again are carried on as often as they came, and none tilts the trend', () => {
  const past = days(40, { 8: 2000, 21: 2100, 34: 1900 })
  const { medianPerDay } = perDay(past)
  expect(medianPerDay).toBeGreaterThan(85)
  expect(medianPerDay).toBeLessThan(115)
  // The mean of a day holds three days of 2000 in 40.
  expect(fitBurn(past).expected(1, 1)).toBeGreaterThan(200)
  expect(fitBurn(past).expected(1, 1)).toBeLessThan(290)
})

test('a rhythm is no surprise: a batch each Monday is expected on Mondays alone', () => {
  const past = pastDays(Array.from({ length: 28 }, (_, at) => (at % 7 === 0 ? 5000 : 100)))
  const { expected } = fitBurn(past)
  expect([expected(1, 1), expected(2, 2)]).toEqual([
    expect.closeTo(5000, 3),
    expect.closeTo(100, 3),
  ])
})

test('two days far above the others at the end are a change that goes on', () => {
  const change = fitBurn(days(28, { 26: 900, 27: 950 })).expected(1, 1)
  expect(change).toBeGreaterThan(150)
  // A single one is not yet a change.
  expect(fitBurn(days(28, { 27: 950 })).expected(1, 1)).toBeLessThan(115)
})

test('of two equal days beside a far one, the earlier is left out with it', () => {
  const past = pastDays([11, 11, 11, 10, 30, 200, 30, 9, 9])
  // Judged with the later one, it would not be far, and the next Saturday would be expected at 198.
  expect(fitBurn(past).expected(4, 6)).toBeCloseTo(28.26168, 5)
})

test('of six days, and of use on one day alone, nothing is left out; of a week, what is far beyond all scatter', () => {
  expect(fitBurn(days(6, { 3: 2000 })).expected(1, 1)).toBeGreaterThan(200)
  expect(fitBurn(days(7, { 3: 2000 })).expected(1, 1)).toBeLessThan(115)
  expect(
    fitBurn(pastDays(Array.from({ length: 20 }, (_, at) => (at === 9 ? 500 : 0)))).expected(1, 1),
  ).toBeGreaterThan(10)
})
