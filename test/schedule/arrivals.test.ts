import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RateSegment, Spacing } from '../../src/scenario/loads.ts'
import { ArrivalPlan } from '../../src/schedule/arrivals.ts'
import { amountBy } from '../../src/schedule/rate-curve.ts'
import { chiSquareP } from './chi-square.ts'

const timesOf = (plan: ArrivalPlan, most = Infinity) => {
  const times: number[] = []
  while (times.length < most && plan.advance()) times.push(plan.atUs)
  return times
}

const flat = (perS: number, durationUs = 0): readonly RateSegment[] => [
  { durationUs, fromPerS: perS, toPerS: perS },
]

const planOf = (
  spacing: Spacing,
  rate: readonly RateSegment[],
  durationUs: number | null,
  seed = 1,
) => new ArrivalPlan(spacing, rate, { durationUs, maxRequests: null }, seed, 'steady')

test('constant arrivals have equal gaps from the first microsecond on', () => {
  expect(timesOf(planOf({ kind: 'constant' }, flat(4), 1e6))).toEqual([
    0, 250_000, 500_000, 750_000,
  ])
})

test('a constant ramp from 0 to 100 per second has the area under it, at the square roots', () => {
  const ramp = [{ durationUs: 10e6, fromPerS: 0, toPerS: 100 }]
  const times = timesOf(planOf({ kind: 'constant' }, ramp, 10e6))
  expect(times.length).toBe(500)
  // 5 t^2 arrivals have come by t.
  expect(times.map((us) => Math.round(5 * (us / 1e6) ** 2))).toEqual(times.map((_, at) => at))
})

test('a stage with rate 0 has no arrival, and the next stage begins at its end', () => {
  const stages = [...flat(10, 1e6), ...flat(0, 2e6), ...flat(10, 1e6)]
  const times = timesOf(planOf({ kind: 'constant' }, stages, 4e6))
  expect(times.length).toBe(20)
  expect(times.filter((us) => us >= 1e6 && us < 3e6)).toEqual([])
  expect(times[10]).toBe(3e6)
})

test('a curve of many stages has no extra arrival at its end despite rounding', () => {
  const durationUs = 2e6 / 24
  const hours = Array.from({ length: 24 }, (_, hour) => {
    const perS = hour < 12 ? 0 : 48
    return { durationUs, fromPerS: perS, toPerS: perS }
  })
  const times = timesOf(planOf({ kind: 'constant' }, hours, 2e6))
  expect([times.length, times[0]]).toEqual([48, 1e6])
})

test('any curve has its area of constant arrivals, in order and within its duration', () => {
  const segment = fc.record({
    durationUs: fc.integer({ min: 1000, max: 5_000_000 }),
    fromPerS: fc.double({ min: 0, max: 2000, noNaN: true }),
    toPerS: fc.double({ min: 0, max: 2000, noNaN: true }),
  })
  fc.assert(
    fc.property(fc.array(segment, { minLength: 1, maxLength: 5 }), (curve) => {
      const durationUs = curve.reduce((sum, piece) => sum + piece.durationUs, 0)
      const times = timesOf(planOf({ kind: 'constant' }, curve, durationUs))
      expect(Math.abs(times.length - amountBy(curve, durationUs))).toBeLessThanOrEqual(1.001)
      expect(times.every((us, at) => us >= (times[at - 1] ?? 0) && us < durationUs)).toBe(true)
    }),
    { numRuns: 200 },
  )
})

test('a plan depends only on seed and phase', () => {
  const plan = (seed: number, phase: string) =>
    timesOf(
      new ArrivalPlan(
        { kind: 'poisson' },
        flat(100),
        { durationUs: null, maxRequests: 50 },
        seed,
        phase,
      ),
    )
  expect(plan(7, 'a')).toEqual(plan(7, 'a'))
  expect(plan(7, 'a')).not.toEqual(plan(8, 'a'))
  expect(plan(7, 'a')).not.toEqual(plan(7, 'b'))
  // Seeds that differ beyond 32 bits are different seeds.
  expect(plan(7, 'a')).not.toEqual(plan(7 + 2 ** 32, 'a'))
})

test.each([1, 2, 3, 4, 5])('Poisson counts of seed %i pass a chi-square test', (seed) => {
  const seconds = 4000
  const mean = 10
  const counts = new Array<number>(seconds).fill(0)
  for (const us of timesOf(planOf({ kind: 'poisson' }, flat(mean), seconds * 1e6, seed))) {
    counts[Math.floor(us / 1e6)]!++
  }
  // Classes 0..4, 5, 6, …, 16, 17 and more: each expects well over five seconds.
  const classOf = (count: number) => Math.min(Math.max(count, 4), 17) - 4
  const found = new Array<number>(14).fill(0)
  for (const count of counts) found[classOf(count)]!++
  const expected = new Array<number>(14).fill(0)
  let chance = Math.exp(-mean)
  for (let count = 0; count < 200; count++) {
    expected[classOf(count)]! += chance * seconds
    chance *= mean / (count + 1)
  }
  expect(chiSquareP(found, expected)).toBeGreaterThan(0.001)
})

test('gaps of gamma arrivals have the mean of the rate and the requested burstiness', () => {
  for (const shape of [0.25, 1, 4]) {
    const times = timesOf(planOf({ kind: 'gamma', shape }, flat(1000), null, 3), 60_000)
    const gaps = times.map((us, at) => us - (times[at - 1] ?? 0))
    const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length
    const variance = gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length
    expect(mean / 1000).toBeCloseTo(1, 1)
    // The coefficient of variation of a gamma is 1/sqrt(shape).
    expect((Math.sqrt(variance) / mean) * Math.sqrt(shape)).toBeCloseTo(1, 1)
  }
})

/** At most ten thousand expected arrivals: over two stretches of 4,096. */
const ramps = fc.array(
  fc.record({
    durationUs: fc.integer({ min: 1000, max: 2_000_000 }),
    fromPerS: fc.double({ min: 0, max: 2000, noNaN: true }),
    toPerS: fc.double({ min: 0, max: 2000, noNaN: true }),
  }),
  { minLength: 1, maxLength: 3 },
)
const spacings = fc.oneof(
  fc.constant<Spacing>({ kind: 'constant' }),
  fc.constant<Spacing>({ kind: 'poisson' }),
  fc.double({ min: 0.1, max: 9, noNaN: true }).map((shape): Spacing => ({ kind: 'gamma', shape })),
)

test('the shards of a plan skip to their arrivals, and together send each once, as without shards', () => {
  fc.assert(
    fc.property(
      spacings,
      ramps,
      fc.integer({ min: 1, max: 16 }),
      fc.option(fc.integer({ min: 1, max: 6000 })),
      fc.nat(),
      (spacing, rate, of, maxRequests, seed) => {
        const durationUs = rate.reduce((sum, piece) => sum + piece.durationUs, 0)
        const plan = () =>
          new ArrivalPlan(spacing, rate, { durationUs, maxRequests }, seed, 'steady')
        const whole = timesOf(plan())
        const sent: (number | undefined)[] = []
        for (let shard = 0; shard < of; shard++) {
          const own = plan()
          while (own.advance(own.index < 0 ? shard : own.index + of)) sent[own.index] = own.atUs
        }
        expect(sent).toEqual(whole)
        const last = plan()
        last.finish()
        expect([last.index, last.atUs]).toEqual([whole.length - 1, whole.at(-1) ?? Infinity])
      },
    ),
    { numRuns: 60 },
  )
})

test('the last arrival of billions is found, and skipping equals walking', () => {
  const bounds = { durationUs: 600e6, maxRequests: null }
  const end = (spacing: Spacing) => {
    const plan = new ArrivalPlan(spacing, flat(1e7), bounds, 3, 'steady')
    plan.finish()
    return plan
  }
  expect(end({ kind: 'constant' }).index).toBe(6e9 - 1)
  const plan = new ArrivalPlan({ kind: 'poisson' }, flat(1e4), bounds, 3, 'steady')
  const far = new ArrivalPlan({ kind: 'poisson' }, flat(1e4), bounds, 3, 'steady')
  while (plan.index < 123_456) plan.advance()
  far.advance(123_456)
  expect(far.atUs).toBe(plan.atUs)
  // 6,000,000 arrivals are expected, with a deviation of 2,449.
  far.finish()
  expect(Math.abs(far.index - 6e6)).toBeLessThan(3 * 2449)
})

test('Poisson gaps are exponential and independent, by 40 seeds', { tags: 'whole' }, () => {
  const distances: number[] = []
  const sums: number[] = []
  for (let seed = 1; seed <= 40; seed++) {
    const times = timesOf(planOf({ kind: 'poisson' }, flat(1), null, seed), 10_000)
    const gaps = times.map((us, at) => (us - (times[at - 1] ?? 0)) / 1e6)
    const far = gaps.toSorted((a, b) => a - b).map((gap, at) => 1 - Math.exp(-gap) - at / 10_000)
    distances.push(Math.max(...far.map(Math.abs)) * 100)
    for (const lag of [1, 63, 64]) {
      const sum = gaps.slice(lag).reduce((total, gap, at) => total + (gap - 1) * (gaps[at]! - 1), 0)
      sums.push(sum / 100)
    }
  }
  // Kolmogorov and Smirnov: half of all true samples are below 0.83, one in twenty is above 1.36.
  expect(Math.abs(distances.toSorted((a, b) => a - b)[20]! - 0.83)).toBeLessThan(0.12)
  expect(distances.filter((distance) => distance > 1.36).length).toBeLessThanOrEqual(6)
  // 120 normal sums of mean 0 and variance 1.
  const squares = sums.reduce((sum, each) => sum + each ** 2, 0)
  expect(Math.abs(sums.reduce((sum, each) => sum + each, 0))).toBeLessThan(3.3 * Math.sqrt(120))
  expect(Math.abs(squares - 120)).toBeLessThan(3.3 * Math.sqrt(240))
})

test.each([16, 100, 1024, 4096])(
  'counts of Poisson arrivals with mean %i have the same variance',
  (mean) => {
    const windows = 400
    const counts = new Array<number>(windows).fill(0)
    const plan = planOf({ kind: 'poisson' }, flat(mean), windows * 1e6, 5)
    while (plan.advance()) counts[Math.floor(plan.atUs / 1e6)]!++
    const found = counts.reduce((sum, count) => sum + count, 0) / windows
    expect(Math.abs(found - mean) / Math.sqrt(mean / windows)).toBeLessThan(3.3)
    const variance = counts.reduce((sum, count) => sum + (count - mean) ** 2, 0) / windows
    // The variance of 400 windows deviates by √(2/400).
    expect(Math.abs(variance / mean - 1)).toBeLessThan(3.3 * Math.sqrt(2 / windows))
  },
)
