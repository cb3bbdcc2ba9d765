import { expect, test } from 'vitest'
import { ratioInterval } from '../../../src/measure/interval/difference.ts'
import { pairedInterval } from '../../../src/measure/interval/paired.ts'
import { Series } from '../../../src/measure/interval/series.ts'
import { RandomStream } from '../../../src/schedule/random.ts'

/** Noise that both share (correlation 0.99 of neighbours, sd 0.3), and 0.4 of each its own. */
function pairsOf(n: number, seed: number, slower: number) {
  const draws = new RandomStream(seed, 'pairs')
  let next = 0
  const normal = () => {
    const [one, two] = [1 - draws.at(next++), draws.at(next++)]
    return Math.sqrt(-2 * Math.log(one)) * Math.cos(2 * Math.PI * two)
  }
  let shared = 0.3 * normal()
  const [a, b] = [new Float64Array(n), new Float64Array(n)]
  for (let at = 0; at < n; at++) {
    a[at] = Math.exp(shared + 0.4 * normal())
    b[at] = slower * Math.exp(shared + 0.4 * normal())
    shared = 0.99 * shared + 0.3 * Math.sqrt(1 - 0.99 ** 2) * normal()
  }
  return { a, b }
}

const runs = 200
const shareOf = (n: number, slower: number, p: number | null) => {
  let called = 0
  for (let seed = 0; seed < runs; seed++) {
    const { a, b } = pairsOf(n, seed, slower)
    const { low, high } = pairedInterval(a, b, p)!
    if (low! > 0 || high! < 0) called++
  }
  return called / runs
}

test('pairs of one service seldom differ, and find 5 % where two runs would not', {
  tags: 'whole',
}, () => {
  for (const p of [null, 0.5, 0.95]) {
    expect([p, shareOf(2_000, 1, p) <= 0.08]).toEqual([p, true])
  }
  // The method's document has 90 % for the mean, 66 % for p50 and 28 % for p95.
  expect(Math.abs(shareOf(2_000, 1.05, null) - 0.9)).toBeLessThan(0.08)
  expect(Math.abs(shareOf(2_000, 1.05, 0.5) - 0.66)).toBeLessThan(0.12)
  expect(Math.abs(shareOf(2_000, 1.05, 0.95) - 0.28)).toBeLessThan(0.12)
})

test('an interval of pairs is several times narrower than one of two runs', () => {
  const { a, b } = pairsOf(20_000, 7, 1.05)
  const paired = pairedInterval(a, b, 0.5)!
  const apart = ratioInterval(new Series(a).percentile(0.5), new Series(b).percentile(0.5))!
  expect(paired.high! - paired.low!).toBeLessThan((apart.high! - apart.low!) / 3)
  expect(paired.change).toBeCloseTo(apart.change, 10)
  expect(pairedInterval(new Float64Array(100), b.slice(0, 100), null)).toBeNull()
})
