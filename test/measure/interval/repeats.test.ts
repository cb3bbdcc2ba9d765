import { expect, test } from 'vitest'
import { studentQuantile } from '../../../src/measure/interval/distributions.ts'
import { repeatsInterval, repeatsRatio } from '../../../src/measure/interval/repeats.ts'
import { randomOf } from '../../../src/user/random.ts'

test("quantiles of Student's t are those of scipy, also for a fraction of a degree", () => {
  const scipy = [
    [1, 12.706204736174694],
    [2.5, 3.5746548420036817],
    [30.2, 2.0417054550397276],
  ] as const
  for (const [freedom, t] of scipy) expect(studentQuantile(0.975, freedom)).toBeCloseTo(t, 8)
})

test("intervals of repeats are those of scipy's ttest_ind with unequal variances", () => {
  const ratio = repeatsRatio([100, 104, 98, 103, 101], [110, 109, 118, 107, 113, 111])!
  expect(ratio.change).toBeCloseTo(0.09984325484431081, 9)
  expect(ratio.low).toBeCloseTo(0.0571263136624803, 9)
  expect(ratio.high).toBeCloseTo(0.144286325666799, 9)
  const points = repeatsInterval([0.01, 0.02, 0.015], [0.03, 0.02, 0.05])!
  expect(points.change).toBeCloseTo(0.018333333333333333, 9)
  expect(points.low).toBeCloseTo(-0.015597176647913345, 9)
  expect(points.high).toBeCloseTo(0.05226384331458001, 9)
})

test('fewer than three runs of a side have no interval, and a ratio needs figures above 0', () => {
  expect(repeatsInterval([1, 2], [1, 2, 3])).toBeNull()
  expect(repeatsRatio([1, 2, 0], [1, 2, 3])).toBeNull()
})

test('of repeats of one build that vary by 5 %, about one in twenty is called different', () => {
  const random = randomOf(7)
  const normal = (of: () => number) =>
    Math.sqrt(-2 * Math.log(1 - of())) * Math.cos(2 * Math.PI * of())
  const run = () => Math.exp(0.05 * normal(random) + 0.02 * normal(random))
  const runs = (scale: number, count: number) => Array.from({ length: count }, () => scale * run())
  const called = (scale: number) => {
    let found = 0
    for (let nth = 0; nth < 1_000; nth++) {
      const { low, high } = repeatsRatio(runs(1, 5), runs(scale, 5))!
      if (low! > 0 || high! < 0) found++
    }
    return found / 10
  }
  // The power of the t test, by scipy's noncentral t: 68.9 %.
  expect(called(1)).toBeLessThanOrEqual(6)
  expect(Math.abs(called(1.1) - 68.9)).toBeLessThanOrEqual(4)
})
