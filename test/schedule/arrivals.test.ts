import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RateSegment, Spacing } from '../../src/scenario/scenario.ts'
import { ArrivalPlan } from '../../src/schedule/arrivals.ts'
import { amountOf } from '../../src/schedule/course.ts'
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

test('constant arrivals stand at equal gaps from the first microsecond on', () => {
  expect(timesOf(planOf({ kind: 'constant' }, flat(4), 1e6))).toEqual([
    0, 250_000, 500_000, 750_000,
  ])
})

test('a constant ramp from 0 to 100 per second holds the area under it, at the square roots', () => {
  const ramp = [{ durationUs: 10e6, fromPerS: 0, toPerS: 100 }]
  const times = timesOf(planOf({ kind: 'constant' }, ramp, 10e6))
  expect(times.length).toBe(500)
  // 5 t^2 arrivals have come by t.
  expect(times.map((us) => Math.round(5 * (us / 1e6) ** 2))).toEqual(times.map((_, at) => at))
})

test('a stage without any rate holds no arrival, and the next begins where it ends', () => {
  const stages = [...flat(10, 1e6), ...flat(0, 2e6), ...flat(10, 1e6)]
  const times = timesOf(planOf({ kind: 'constant' }, stages, 4e6))
  expect(times.length).toBe(20)
  expect(times.filter((us) => us >= 1e6 && us < 3e6)).toEqual([])
  expect(times[10]).toBe(3e6)
})

test('a course of many pieces holds no arrival too many at its end, where sums are not exact', () => {
  const durationUs = 2e6 / 24
  const hours = Array.from({ length: 24 }, (_, hour) => {
    const perS = hour < 12 ? 0 : 48
    return { durationUs, fromPerS: perS, toPerS: perS }
  })
  const times = timesOf(planOf({ kind: 'constant' }, hours, 2e6))
  expect([times.length, times[0]]).toEqual([48, 1e6])
})

test('any course holds its area of constant arrivals, in order and inside its duration', () => {
  const segment = fc.record({
    durationUs: fc.integer({ min: 1000, max: 5_000_000 }),
    fromPerS: fc.double({ min: 0, max: 2000, noNaN: true }),
    toPerS: fc.double({ min: 0, max: 2000, noNaN: true }),
  })
  fc.assert(
    fc.property(fc.array(segment, { minLength: 1, maxLength: 5 }), (course) => {
      const durationUs = course.reduce((sum, piece) => sum + piece.durationUs, 0)
      const times = timesOf(planOf({ kind: 'constant' }, course, durationUs))
      expect(Math.abs(times.length - amountOf(course))).toBeLessThanOrEqual(1.001)
      expect(times.every((us, at) => us >= (times[at - 1] ?? 0) && us < durationUs)).toBe(true)
    }),
    { numRuns: 200 },
  )
})

test('the plan is the seed’s alone: the same again, another for another seed or phase', () => {
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

test('gaps of gamma arrivals have the mean of the rate and the burstiness asked for', () => {
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

test('the shards of a plan are its arrivals, each once', () => {
  const all = timesOf(planOf({ kind: 'poisson' }, flat(500), 2e6))
  const shards = [0, 1, 2].flatMap((shard) => {
    const plan = planOf({ kind: 'poisson' }, flat(500), 2e6)
    const own: number[] = []
    while (plan.advance()) if (plan.index % 3 === shard) own.push(plan.atUs)
    return own
  })
  expect(shards.sort((a, b) => a - b)).toEqual(all)
})
