import fc from 'fast-check'
import { expect, test } from 'vitest'
import { quantileBounds, riseOf } from '../../src/exporter/counter.ts'

const points = (...values: readonly number[]) =>
  values.map((value, at) => ({ atUs: at * 1e6, value }))

test('a counter that only rises rose by its last value minus its first', () => {
  expect(riseOf(points(10, 10, 12, 40))).toEqual({ by: 30, restartsUs: [] })
})

test('a lower value is a restart: its whole value counts, and its time is known', () => {
  expect(riseOf(points(100, 110, 5, 6, 7, 8))).toEqual({ by: 18, restartsUs: [2e6] })
})

test('a counter that falls and comes back above its earlier value is of several replicas', () => {
  expect(riseOf(points(1000, 20, 1010, 25))).toEqual({ by: null, restartsUs: [] })
})

test('a fast counter that passes its earlier value long after a restart is one counter', () => {
  expect(riseOf(points(100, 110, 0, 30, 60, 90, 120)).by).toBe(130)
})

test('one point or none rose by nothing', () => {
  expect([riseOf([]).by, riseOf(points(7)).by]).toEqual([0, 0])
})

test('restarts at any moments lose nothing that was counted before the last scrape of each life', () => {
  const lives = fc.array(fc.array(fc.nat(1000), { minLength: 5, maxLength: 9 }), {
    minLength: 1,
    maxLength: 4,
  })
  fc.assert(
    fc.property(lives, (lifes) => {
      // Each life ends far above where the next one comes within the scrapes that tell replicas.
      const scrapes = lifes.flatMap((steps) => {
        let sum = 0
        return [0, ...steps.map((step) => (sum += step)), sum + 1e6]
      })
      const counted = lifes.reduce((all, steps) => all + steps.reduce((a, b) => a + b, 0) + 1e6, 0)
      expect(riseOf(points(...scrapes)).by).toBe(counted)
    }),
  )
})

test('a quantile of a histogram is between the edges of its bucket', () => {
  const buckets = [
    { upTo: 0.3, count: 90 },
    { upTo: 0.5, count: 96 },
    { upTo: Infinity, count: 100 },
  ]
  expect(quantileBounds(buckets, 0.5)).toEqual({ from: 0, to: 0.3 })
  expect(quantileBounds(buckets, 0.95)).toEqual({ from: 0.3, to: 0.5 })
  expect(quantileBounds(buckets, 0.99)).toEqual({ from: 0.5, to: null })
  expect(quantileBounds([{ upTo: Infinity, count: 0 }], 0.5)).toBeNull()
})
