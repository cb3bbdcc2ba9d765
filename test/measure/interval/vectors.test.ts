import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { pointsInterval, ratioInterval } from '../../../src/measure/interval/difference.ts'
import type { Interval } from '../../../src/measure/interval/interval.ts'
import { Series } from '../../../src/measure/interval/series.ts'

/** Figures of an independent implementation in scipy and numpy; `inf` is no bound. */
const lines = (file: string) =>
  readFileSync(new URL(`vectors/${file}`, import.meta.url), 'utf8')
    .trim()
    .split(/\r?\n/)
    .slice(1)
    .map((line) => line.split(','))

const series = new Map(
  [...Map.groupBy(lines('series.csv'), ([name]) => name!)].map(([name, rows]) => [
    name,
    new Series(Float64Array.from(rows, ([, , us]) => Number(us))),
  ]),
)
const expected = lines('expected.csv')

const intervalOf = (name: string, statistic: string): Interval => {
  const of = series.get(name)!
  return statistic === 'mean' ? of.mean() : of.percentile(Number(statistic.slice(1)) / 100)
}

/** Six digits; a bound that is missing in one is missing in the other. */
function expectSame(found: number | null, told: string) {
  if (told === 'inf') expect(found).toBeNull()
  else expect(Math.abs(found! - Number(told))).toBeLessThan(1e-6 * Math.abs(Number(told)))
}

test('the vectors have nine series and a ratio', () => {
  expect(series.size).toBe(9)
  expect(expected.length).toBe(50)
})

test.each(expected.filter(([name]) => !name!.includes('/')))(
  'an interval of %s, %s, is that of another implementation to six digits',
  (name, statistic, estimate, low, high, effect, _cosines, runEffect, runWorth, short) => {
    const of = series.get(name!)!
    const found = intervalOf(name!, statistic!)
    expectSame(found.value, estimate!)
    expectSame(found.low, low!)
    expectSame(found.high, high!)
    expectSame(of.n / found.worth, effect!)
    expectSame(of.effect, runEffect!)
    expectSame(of.worth, runWorth!)
    expect(of.isShort).toBe(short === '1')
  },
)

test.each(expected.filter(([name]) => name!.includes('/')))(
  'the ratio %s of %s is that of another implementation to six digits',
  (name, statistic, estimate, low, high) => {
    const [b, a] = name!.split(' / ').map((side) => intervalOf(side, statistic!)) as [
      Interval,
      Interval,
    ]
    const found = ratioInterval(a, b)!
    expectSame(found.change + 1, estimate!)
    expectSame(found.low === null ? null : found.low + 1, low!)
    expectSame(found.high === null ? null : found.high + 1, high!)
    expect(pointsInterval(a, b).change).toBe(b.value - a.value)
  },
)
