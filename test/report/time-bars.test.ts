import { expect, test } from 'vitest'
import { readTimeShape, timeShapeText } from '../../src/report/summary/time-bars.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { openStore } from '../store/opened.ts'
import { attempt, enterEndedRun } from './attempts.ts'

test('response times are a histogram up to p99, with one bar for the rest, and a line over time', async () => {
  const store = await openStore(':memory:')
  await enterEndedRun(store)
  const lasting = (slot: number, ms: number) =>
    attempt(slot, { doneUs: slot * 1e6 + ms * 1000, closedUs: slot * 1e6 + ms * 1000 })
  await appendAttempts(store, [
    // 10 to 109 ms, evenly, for 800 seconds; then 200 seconds of the slower half; two outliers.
    ...Array.from({ length: 800 }, (_, slot) => lasting(slot, 10 + (slot % 100))),
    ...Array.from({ length: 198 }, (_, at) => lasting(800 + at, 60 + (at % 50))),
    lasting(998, 5000),
    lasting(999, 6000),
    // Neither the warm-up nor a failure counts.
    attempt(1000, { part: 'warmup', phase: 'warm', closedUs: 1e12, doneUs: 1e12 }),
    attempt(1001, { outcome: 'broken' }),
  ])
  const shape = (await readTimeShape(store, 'a'))!
  expect(shape.n).toBe(1000)
  expect(shape.bars.reduce((sum, { n }) => sum + n, 0)).toBe(1000)
  expect(shape.bars.map(({ toUs }) => Math.round(toUs / 1000))).toEqual([
    20, 30, 40, 50, 60, 69, 79, 89, 99, 109, 6000,
  ])
  const [first, last] = [shape.medians[0]!, shape.medians.at(-1)!]
  expect(first).toBeLessThan(30_000)
  expect(last).toBeGreaterThan(80_000)
  const text = timeShapeText(shape)
  expect(text).toContain('response time in milliseconds, n = 1,000\n')
  expect(text).toMatch(/to 6,000 +\d+ {2}[█▏]+\n/)
  expect(text).toMatch(/p50 over time {2}[▁▂▃▄▅▆▇█ ]{40}\n/)
  expect(text.split('\n').filter((line) => line.length > 80)).toEqual([])
  store.close()
})

test('bounds that would read the same are printed to the microsecond', () => {
  const bars = [1_001_800, 1_002_200, 1_002_600].map((toUs) => ({ toUs, n: 1 }))
  const text = timeShapeText({ n: 3, censored: 0, bars, medians: [], intervalUs: 1 })
  expect(text.match(/to [\d.,]+/g)).toEqual(['to 1,001.800', 'to 1,002.200', 'to 1,002.600'])
})

test('intervals shorter than a second are told in milliseconds', () => {
  const widthOf = (intervalUs: number) =>
    timeShapeText({ n: 3, censored: 0, bars: [{ toUs: 9, n: 3 }], medians: [1, 2], intervalUs })
  expect(widthOf(25_000)).toContain('ms, by 25.00 ms\n')
  expect(widthOf(2_500_000)).toContain('ms, by 2.5 s\n')
})

test('ten responses are too few for a histogram', async () => {
  const store = await openStore(':memory:')
  await enterEndedRun(store)
  await appendAttempts(
    store,
    Array.from({ length: 10 }, (_, slot) => attempt(slot)),
  )
  expect(timeShapeText(await readTimeShape(store, 'a'))).toBe('')
  await appendAttempts(store, [attempt(10), attempt(11, { outcome: 'timeout' })])
  expect(timeShapeText(await readTimeShape(store, 'a'))).toContain(
    'n = 12; 1 of them at least so long',
  )
  store.close()
})
