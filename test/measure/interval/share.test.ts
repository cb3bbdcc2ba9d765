import { expect, test } from 'vitest'
import { incompleteBeta } from '../../../src/measure/interval/distributions.ts'
import { longRunOf } from '../../../src/measure/interval/long-run.ts'
import { rateInterval, shareInterval } from '../../../src/measure/interval/share.ts'
import { randomOf } from '../../../src/user/random.ts'

/** Counts of 0 and 1, each independent of those before it. */
function independent(n: number, share: number): Uint8Array {
  const random = randomOf(3)
  return Uint8Array.from({ length: n }, () => (random() < share ? 1 : 0))
}

test('no error of 100 requests, or nothing else, has the exact bound of independent ones', () => {
  const none = shareInterval(new Uint8Array(100))
  expect(none).toMatchObject({ value: 0, low: 0, worth: 100 })
  expect(none.high).toBeCloseTo(1 - 0.025 ** (1 / 100), 12)
  const all = shareInterval(new Uint8Array(100).fill(1))
  expect(all).toMatchObject({ value: 1, high: 1, worth: 100 })
  expect(all.low).toBeCloseTo(0.025 ** (1 / 100), 12)
})

test('beyond the bounds of a share, so few or many count in 2.5 % of samples of what it is worth', () => {
  const { value, low, high, worth, t } = shareInterval(independent(1000, 0.2))
  const used = worth * (1.96 / t) ** 2
  expect(used).toBeGreaterThan(300)
  expect(incompleteBeta(low!, value * used, used - value * used + 1)).toBeCloseTo(0.025, 9)
  expect(incompleteBeta(high!, value * used + 1, used - value * used)).toBeCloseTo(0.975, 9)
})

/** Counts that come in runs of so many. */
function inRuns(n: number, share: number, run: number): Uint8Array {
  const starts = independent(n / run, share)
  return Uint8Array.from({ length: n }, (_, at) => starts[Math.floor(at / run)]!)
}

test('a share is worth so many requests as its long-run variance leaves of them', () => {
  for (const counts of [independent(1000, 0.2), inRuns(1000, 0.2, 5)]) {
    const { value, worth } = shareInterval(counts)
    const { variance } = longRunOf(1000, (at) => counts[at]!)
    expect(worth).toBeCloseTo(1000 * Math.min(1, (value * (1 - value)) / variance), 9)
  }
})

test('a share has both bounds from 20 independent bursts on', () => {
  const many = shareInterval(inRuns(4000, 0.2, 5))
  expect(4000 / many.worth).toBeGreaterThan(3)
  expect([many.low, many.high]).not.toContain(null)
  const few = inRuns(400, 0.1, 4)
  const { value, worth, low, high } = shareInterval(few)
  expect(400 / worth).toBeGreaterThan(3)
  expect(value * worth).toBeLessThan(18)
  expect((1 - value) * worth).toBeGreaterThan(25)
  expect([low !== null, high !== null]).toEqual([true, false])
  const rest = shareInterval(few.map((each) => 1 - each))
  expect([rest.low !== null, rest.high !== null]).toEqual([false, true])
})

test('errors of a few bursts have no bound on the far side', () => {
  const burst = (from: number, to: number) =>
    Uint8Array.from({ length: 400 }, (_, at) => (at >= from && at < to ? 1 : 0))
  const boundsOf = (counts: Uint8Array) => {
    const { low, high } = shareInterval(counts)
    return [low !== null, high !== null]
  }
  expect(boundsOf(burst(100, 140))).toEqual([true, false])
  expect(boundsOf(burst(0, 360))).toEqual([false, true])
  expect(boundsOf(burst(200, 400))).toEqual([true, false])
  expect(boundsOf(independent(400, 0.01))).toEqual([true, true])
})

test('a rate is the mean of its seconds and as many errors as its interval has on each side', () => {
  const random = randomOf(5)
  const counts = Float64Array.from({ length: 400 }, () => 4 + Math.floor(5 * random()))
  const mean = counts.reduce((sum, each) => sum + each, 0) / 400
  const variance = counts.reduce((sum, each) => sum + (each - mean) ** 2, 0) / 400
  const { value, low, high, worth, t } = rateInterval(counts)
  expect(value).toBe(mean)
  expect(low).toBeCloseTo(mean - t * Math.sqrt(variance / worth), 12)
  expect(high).toBeCloseTo(mean + t * Math.sqrt(variance / worth), 12)
})

test('a rate has bounds from 20 independent seconds on, and none is below 0', () => {
  expect(rateInterval(new Float64Array(20).fill(3))).toMatchObject({ value: 3, low: 3, high: 3 })
  expect(rateInterval(new Float64Array(19).fill(3))).toMatchObject({ low: null, high: null })
  // e^(-3.69) is 2.5 %.
  expect(rateInterval(new Float64Array(20))).toMatchObject({ value: 0, low: 0, high: 3.69 / 20 })
  const seldom = new Float64Array(40)
  seldom[20] = 1
  const { low, high } = rateInterval(seldom)
  expect(low).toBe(0)
  expect(high).toBeGreaterThan(1 / 40)
})
