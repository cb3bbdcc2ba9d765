import fc from 'fast-check'
import { expect, test } from 'vitest'
import { services, timesOf } from '../../../bench/intervals/services.ts'
import { coldStartOf, warmUpCut } from '../../../src/measure/interval/cold-start.ts'

/** MSER-5 as White (1997) writes it: for each cut, the variance of what is left over its count. */
function byDefinition(values: readonly number[]): number | null {
  const means = Array.from(
    { length: Math.floor(values.length / 5) },
    (_, at) => values.slice(5 * at, 5 * at + 5).reduce((sum, value) => sum + value, 0) / 5,
  )
  let best = { score: Infinity, at: 0 }
  for (let at = 0; means.length - at >= 10; at++) {
    const left = means.slice(at)
    const mean = left.reduce((sum, value) => sum + value, 0) / left.length
    const score = left.reduce((sum, value) => sum + (value - mean) ** 2, 0) / left.length ** 2
    if (score < best.score) best = { score, at }
  }
  return best.at > means.length / 2 ? null : best.at * 5
}

test('the cut is that of MSER-5 by its definition', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 50, maxLength: 200 }),
      (values) => {
        // Sums of squares round, so that cuts that are nearly as good are as good.
        fc.pre(isClear(values))
        expect(warmUpCut(Float64Array.from(values))).toBe(byDefinition(values))
      },
    ),
  )
})

/** Whether the best cut stays the best if times change by a millionth. */
const isClear = (values: readonly number[]) =>
  byDefinition(values.map((value, at) => value * (1 + (at % 2) * 1e-6))) === byDefinition(values)

const timesBy = (name: string, n: number, seed: number) =>
  timesOf(services.find((service) => service.name === name)!, n, {
    arrivals: 10 + seed,
    service: 7_000 + seed,
  })

/** Three times slower at first, with a time constant of 100 requests. */
const cold = (times: Float64Array) => times.map((time, at) => time * (1 + 2 * Math.exp(-at / 100)))
const meanOf = (values: Float64Array) =>
  values.reduce((sum, value) => sum + value, 0) / values.length

test('a cut takes nearly all of what a cold start adds to a mean', { tags: 'whole' }, () => {
  for (const [name, n, most] of [
    ['independent', 2_000, 0.02],
    ['8 workers, load 0.7', 2_000, 0.02],
    ['independent', 500, 0.17],
    ['8 workers, load 0.7', 500, 0.19],
  ] as const) {
    let [before, after] = [0, 0]
    for (let seed = 0; seed < 100; seed++) {
      const level = timesBy(name, n, seed)
      const times = cold(level)
      before += (meanOf(times) / meanOf(level) - 1) / 100
      after += (meanOf(times.slice(warmUpCut(times) ?? 0)) / meanOf(level) - 1) / 100
    }
    expect(before).toBeGreaterThan(n === 500 ? 0.38 : 0.095)
    expect([name, n, after < most]).toEqual([name, n, true])
  }
})

test('a cold start is told, and a service that begins as it goes on seldom has one', {
  tags: 'whole',
}, () => {
  const told = (times: (seed: number) => Float64Array) =>
    Array.from({ length: 100 }, (_, seed) => coldStartOf(times(seed))).filter(
      (each) => each !== null,
    )
  for (const { name } of services) {
    expect([name, told((seed) => timesBy(name, 2_000, seed)).length <= 4]).toEqual([name, true])
  }
  const starts = told((seed) => cold(timesBy('independent', 2_000, seed)))
  expect(starts.length).toBe(100)
  for (const { count, ratio } of starts) {
    expect(count).toBeGreaterThan(100)
    expect(count).toBeLessThan(500)
    expect(ratio).toBeGreaterThan(1.2)
    expect(ratio).toBeLessThan(2.5)
  }
  expect(told((seed) => cold(timesBy('64 closed users', 2_000, seed))).length).toBeGreaterThan(90)
  // Too few, all alike, and none at all.
  expect(coldStartOf(cold(timesBy('independent', 299, 1)))).toBeNull()
  expect(coldStartOf(new Float64Array(2_000).fill(7))).toBeNull()
  expect(coldStartOf(new Float64Array())).toBeNull()
})
