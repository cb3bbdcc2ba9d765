import { expect, test } from 'vitest'
import { thinkUs, tokensOf, WeightedChoice } from '../../src/schedule/draw.ts'
import { RandomStream } from '../../src/schedule/random.ts'
import { chiSquareP } from './chi-square.ts'

const many = 40_000

test.each([0, 1, 42, 2 ** 40 + 5])('draws of seed %i are uniform, also in pairs', (seed) => {
  const random = new RandomStream(seed, 'step')
  const single = new Array<number>(100).fill(0)
  const pairs = new Array<number>(100).fill(0)
  for (let index = 0; index < many; index++) {
    const [now, next] = [random.at(index), random.at(index + 1)]
    single[Math.floor(now * 100)]!++
    pairs[Math.floor(now * 10) * 10 + Math.floor(next * 10)]!++
  }
  const expected = new Array<number>(100).fill(many / 100)
  expect(chiSquareP(single, expected)).toBeGreaterThan(0.001)
  expect(chiSquareP(pairs, expected)).toBeGreaterThan(0.001)
})

test('a weighted choice draws each entry by its weight, and never one of weight 0', () => {
  const choice = new WeightedChoice([3, 0, 1, 6])
  const random = new RandomStream(9, 'step')
  const found = [0, 0, 0, 0]
  for (let index = 0; index < many; index++) found[choice.pick(random.at(index))]!++
  expect(found[1]).toBe(0)
  const expected = [0.3, 0.1, 0.6].map((share) => share * many)
  expect(chiSquareP([found[0]!, found[2]!, found[3]!], expected)).toBeGreaterThan(0.001)
  expect(() => new WeightedChoice([0, 0])).toThrow(/above 0/)
})

test('think times have the requested mean', () => {
  const random = new RandomStream(1, 'think')
  const mean = (draw: (index: number) => number) => {
    let sum = 0
    for (let index = 0; index < many; index++) sum += draw(index)
    return sum / many
  }
  expect(thinkUs({ kind: 'fixed', us: 5 }, random, 3)).toBe(5)
  const exponential = mean((at) => thinkUs({ kind: 'exponential', meanUs: 1000 }, random, at))
  expect(exponential / 1000).toBeCloseTo(1, 1)
  const uniform = mean((at) => thinkUs({ kind: 'uniform', minUs: 1000, maxUs: 3000 }, random, at))
  expect(uniform / 2000).toBeCloseTo(1, 1)
})

test('token lengths follow their distribution and are at least one', () => {
  const random = new RandomStream(1, 'tokens')
  const draws = (lengths: Parameters<typeof tokensOf>[0]) =>
    Array.from({ length: many }, (_, index) => tokensOf(lengths, random, index)).sort(
      (a, b) => a - b,
    )
  const middle = (sorted: readonly number[]) => sorted[many / 2]!
  expect(new Set(draws({ kind: 'uniform', min: 3, max: 5 }))).toEqual(new Set([3, 4, 5]))
  expect(middle(draws({ kind: 'lognormal', median: 200, sigma: 0.5 })) / 200).toBeCloseTo(1, 1)
  expect(middle(draws({ kind: 'normal', mean: 100, sd: 10 })) / 100).toBeCloseTo(1, 1)
  expect(draws({ kind: 'normal', mean: 0, sd: 100 })[0]).toBe(1)
  expect(new Set(draws({ kind: 'empirical', samples: [7, 9] }))).toEqual(new Set([7, 9]))
})
